import { describe, expect, it } from "vitest";
import { z } from "zod";
import { buildInput, canFill } from "./tool-input.ts";

function build(shape: z.ZodRawShape, clause: string, text: string = clause): Record<string, unknown> {
  const schema = z.object(shape);
  const input = buildInput(z.toJSONSchema(schema), { text, clause });
  expect(schema.safeParse(input).success).toBe(true);
  return input;
}

describe("buildInput", () => {
  it.each<[string, z.ZodRawShape, string, Record<string, unknown>]>([
    ["the only string", { subject: z.string() }, "what a tide is", { subject: "what a tide is" }],
    ["an only optional string", { topic: z.string().optional() }, "tides", { topic: "tides" }],
    [
      "the string that is named like a text",
      { city: z.string(), query: z.string() },
      "weather, city Paris",
      { query: "weather, city Paris", city: "Paris" },
    ],
    ["key words of a search", { query: z.string() }, "What is the tide of the Moon?", { query: "tide Moon" }],
    ["fillers when there is nothing else", { query: z.string() }, "what is it about", { query: "it" }],
    ["fillers as they are", { q: z.string() }, "what is the", { q: "what is the" }],
    ["numbers in order", { a: z.number(), b: z.number() }, "take 2.5 from -3", { a: 2.5, b: -3 }],
    ["whole numbers", { n: z.int() }, "take 2.5", { n: 2 }],
    [
      "an optional number with its name",
      { text: z.string(), limit: z.number().optional() },
      "tides of 1990, limit 3",
      { text: "tides of 1990, limit 3", limit: 3 },
    ],
    [
      "a default rather than a number of the text",
      { query: z.string(), limit: z.number().max(5).default(3) },
      "tides of 1990",
      { query: "tides 1990", limit: 3 },
    ],
    [
      "optional numbers where there is no text",
      { a: z.number(), b: z.number().optional() },
      "add 1 and 2",
      { a: 1, b: 2 },
    ],
    [
      "an optional number that is not",
      { text: z.string(), limit: z.number().optional() },
      "find tides",
      { text: "find tides" },
    ],
    ["no digits of names", { n: z.number().default(7) }, "use v2 and b52", { n: 7 }],
    ["what follows a colon", { text: z.string() }, "count the words of: one two: three", { text: "one two: three" }],
    ["no time of day", { text: z.string() }, "remind me at 10:30", { text: "remind me at 10:30" }],
    ["key words after a colon", { query: z.string() }, "search for: the tide", { query: "tide" }],
    [
      "a text after a colon, a number before it",
      { text: z.string(), words: z.int() },
      "shorten to 3 words: the 7 seas",
      { text: "the 7 seas", words: 3 },
    ],
    [
      "numbers at their names, whatever the order",
      { sides: z.int(), count: z.int() },
      "roll 3 dice with 20 sides",
      { sides: 20, count: 3 },
    ],
    [
      "numbers after their names",
      { max_width: z.int(), height: z.int() },
      "frame with height 4 and a width of 5",
      { max_width: 5, height: 4 },
    ],
    ["one of several", { dice: z.int(), sides: z.int() }, "roll a die with 6 sides", { dice: 0, sides: 6 }],
    ["a number that is allowed", { a: z.int().min(2), b: z.number().positive() }, "roll", { a: 2, b: 1 }],
    ["booleans", { on: z.boolean(), off: z.boolean().optional() }, "switch", { on: true }],
    ["the first choice spoken of", { mode: z.enum(["fast", "slow", "odd"]) }, "go slow, not fast", { mode: "slow" }],
    ["else the first choice", { mode: z.enum(["fast", "slow"]) }, "go slowly", { mode: "fast" }],
    ["quoted parts in order", { from: z.string(), to: z.string() }, 'translate "a" to “b”', { from: "a", to: "b" }],
    ["one quoted part as the text", { text: z.string() }, 'count the words of "a b c"', { text: "a b c" }],
    [
      "lists",
      { names: z.array(z.string()), sizes: z.array(z.number()) },
      'put "a" and "b" in 1, 2',
      { names: ["a", "b"], sizes: [1, 2] },
    ],
    ["nested objects", { place: z.object({ x: z.number(), y: z.number() }) }, "go to 1 2", { place: { x: 1, y: 2 } }],
    [
      "unions and nullable types",
      { note: z.string().nullable(), size: z.union([z.null(), z.number()]) },
      "keep 4",
      { note: "keep 4", size: 4 },
    ],
    [
      "formats",
      { when: z.iso.date(), mail: z.email(), site: z.url() },
      "on 2026-11-30 write a@b.co of https://x.y/z",
      { when: "2026-11-30", mail: "a@b.co", site: "https://x.y/z" },
    ],
    ["constants", { kind: z.literal("note"), text: z.string() }, "tides", { kind: "note", text: "tides" }],
    ["nothing", {}, "now", {}],
  ])("%s", (_, shape, clause, expected) => {
    expect(build(shape, clause)).toEqual(expected);
  });

  it("prefers the material to the clause in the text", () => {
    expect(build({ text: z.string(), times: z.number() }, "repeat 2", "Tides rise.")).toEqual({
      text: "Tides rise.",
      times: 2,
    });
  });

  it("gives a value of the right type when there is none", () => {
    expect(build({ a: z.number().min(5), b: z.number() }, "add")).toEqual({ a: 5, b: 0 });
  });

  it.each([
    undefined,
    null,
    1,
    "x",
    [],
    {},
    { type: "object" },
    { properties: 1, required: "a" },
    { properties: { a: null }, required: ["a"] },
  ])("survives %j as a schema", (schema) => {
    expect(() => buildInput(schema, { text: "t", clause: "c" })).not.toThrow();
  });
});

it("canFill asks for the required numbers only", () => {
  const schema = z.toJSONSchema(
    z.object({ a: z.number(), b: z.number().optional(), c: z.string(), d: z.number().default(1) }),
  );
  expect(canFill(schema, { text: "", clause: "one" })).toBe(false);
  expect(canFill(schema, { text: "", clause: "1" })).toBe(true);
});
