import { expect, test } from "vitest";
import { closest, near } from "./closest.ts";

test.each([
  ["reserch", ["foreman", "research", "search"], "research"],
  ["serch", ["foreman", "research", "search"], "search"],
  ["x", ["abc", "xy"], "xy"],
  ["a", [], undefined],
])("%s is closest to one of %j", (name, candidates, expected) => {
  expect(closest(name, candidates)).toBe(expected);
});

test.each([
  ["zodd", ["eve", "zod"], "zod"],
  ["tool", ["lib", "tools", "subagents"], "tools"],
  ["left-pad", ["eve", "zod"], undefined],
  ["ms", ["zod", "pg"], undefined],
  ["other", [], undefined],
])("%s is meant to be %j: %s", (name, candidates, expected) => {
  expect(near(name, candidates)).toBe(expected);
});
