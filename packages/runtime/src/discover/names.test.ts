import { expect, test } from "vitest";
import { checkMemberName, checkSlotName } from "./names.ts";

const long = (length: number): string => "a".repeat(length);

test.each(["a", "a1", "foreman", "a-b", long(48)])("%s can name a member", (name) => {
  expect(checkMemberName(name)).toBeUndefined();
});

test.each(["", "A", "1a", "-a", "a_b", "a.b", "ä", long(49)])("%j can not name a member", (name) => {
  const problem = checkMemberName(name);
  expect(problem?.message).toContain("lower-case");
  const suggestion = /to "(.*)"/.exec(problem!.fix)![1]!;
  expect(checkMemberName(suggestion)).toBeUndefined();
});

test.each(["a", "count_words", "a-b_c", "a1", "evening", "eve-1", "eve_x", long(64)])("%s can name a tool", (name) => {
  expect(checkSlotName("tool", name)).toBeUndefined();
});

test.each([
  ["eve", "framework"],
  ["eve__wait", "framework"],
  ["a__b", "namespaces"],
  ["_a", "letter"],
  ["a_", "letter"],
  ["Ab", "letter"],
  ["1a", "letter"],
  ["a b", "letter"],
  [long(65), "64"],
])("%s can not name a tool", (name, rule) => {
  expect(checkSlotName("tool", name)?.message).toContain(rule);
});

test("agent names a tool, never a subagent", () => {
  expect(checkSlotName("tool", "agent")).toBeUndefined();
  expect(checkSlotName("subagent", "agent")?.message).toContain("root's own copy");
});

test.each([
  ["lookUp", "look_up"],
  ["Count Words", "count_words"],
  ["a__b", "a_b"],
  ["2fast", "fast"],
])("%s is repaired to %s", (name, repaired) => {
  expect(checkSlotName("tool", name)?.fix).toContain(`"${repaired}"`);
});

test("a repair that would break another rule is not offered", () => {
  expect(checkSlotName("subagent", "Agent")?.fix).toBe("Give it another name.");
});
