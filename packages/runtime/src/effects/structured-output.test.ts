import { describe, expect, test } from "vitest";
import { outputSchemaProblem, readOutput } from "./structured-output.ts";

const SCHEMA = {
  type: "object",
  properties: { n: { type: "number" }, tags: { type: "array", items: { type: "string" } } },
  required: ["n"],
} as const;

describe("readOutput", () => {
  test.each([
    ["plain", '{"n":1}'],
    ["with white space around it", '\n  {"n":1}\n'],
    ["in a fence", '```json\n{"n":1}\n```'],
    ["in a fence without a language", '\n```\n{"n":1}\n```\n'],
  ])("JSON %s is the value", (_, text) => {
    expect(readOutput(text, SCHEMA)).toEqual({ valid: true, value: { n: 1 } });
  });

  test.each([
    ["a text", { type: "string" }, '"a ```fence``` in it"', "a ```fence``` in it"],
    ["a list", { type: "array", items: { type: "number" } }, "[1,2]", [1, 2]],
    ["null", { type: "null" }, "null", null],
    ["what the schema does not name", SCHEMA, '{"n":1,"more":true}', { n: 1, more: true }],
  ])("%s is kept as it is", (_, schema, text, value) => {
    expect(readOutput(text, schema)).toEqual({ valid: true, value });
  });

  test.each([
    ["prose", "It is 1.", /^it is no JSON/],
    ["nothing", "", /^it is no JSON/],
    ["a fence that is not closed", '```json\n{"n":1}', /^it is no JSON/],
    ["a fence and prose", 'Here:\n```json\n{"n":1}\n```', /^it is no JSON/],
    ["a wrong type, with its place", '{"n":1,"tags":["a",2]}', /^tags\.1: /],
    ["the wrong thing at all", "[1]", /^the value: /],
    ["several things", '{"tags":"a"}', /n: .*; tags: /],
  ])("%s is refused with what is wrong", (_, text, problem) => {
    expect(readOutput(text, SCHEMA)).toEqual({ valid: false, problem: expect.stringMatching(problem) });
  });

  test("a long fence without an end is read in no time", () => {
    const started = performance.now();
    expect(readOutput(`\`\`\`json\n${"\n".repeat(200_000)}x`, SCHEMA).valid).toBe(false);
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});

describe("a schema that some caller sent does not hold up the member:", () => {
  const doubled = Object.fromEntries(
    Array.from({ length: 40 }, (_, n) => {
      const next = { $ref: `#/$defs/d${n + 1}` };
      return [`d${n}`, { allOf: [next, next] }];
    }),
  );
  test.each([
    ["a pattern that backtracks", { type: "string", pattern: "^(a+)+$" }, `${"a".repeat(60)}!`],
    ["references that double", { $ref: "#/$defs/d0", $defs: { ...doubled, d40: { type: "number" } } }, 1],
    ["a reference to itself", { $ref: "#" }, 1],
  ])("%s", { timeout: 10_000 }, (_, schema, value) => {
    expect(outputSchemaProblem(schema)).toBeUndefined();
    expect(readOutput(JSON.stringify(value), schema)).toEqual({
      valid: false,
      problem: expect.stringMatching(/^it can not be checked/),
    });
  });

  test("the model is not told of everything that is wrong with a long list", () => {
    const schema = { type: "array", items: { type: "string" } };
    const output = readOutput(JSON.stringify(Array.from({ length: 500 }, (_, n) => n)), schema);
    expect(output).toEqual({ valid: false, problem: expect.stringMatching(/^0: .*; and 490 more$/) });
  });
});

test("outputSchemaProblem says what is wrong with a schema, and nothing of a good one", () => {
  expect(outputSchemaProblem(SCHEMA)).toBeUndefined();
  expect(outputSchemaProblem({ type: "nonsense" })).toEqual(expect.any(String));
});
