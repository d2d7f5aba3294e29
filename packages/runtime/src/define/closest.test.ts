import { expect, test } from "vitest";
import { closest } from "./closest.ts";

test.each([
  ["reserch", ["foreman", "research", "search"], "research"],
  ["serch", ["foreman", "research", "search"], "search"],
  ["x", ["abc", "xy"], "xy"],
  ["a", [], undefined],
])("%s is closest to one of %j", (name, candidates, expected) => {
  expect(closest(name, candidates)).toBe(expected);
});
