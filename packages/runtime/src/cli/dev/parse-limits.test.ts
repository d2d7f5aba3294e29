import { expect, test } from "vitest";
import { parseLimits } from "./parse-limits.ts";

test("without variables: 50 builds, 1 GB, a minute", () => {
  const limits = { swaps: 50, memory: 1_000_000_000, patienceMs: 60_000 };
  expect(parseLimits({}, false)).toEqual(limits);
  expect(parseLimits({ EVE_DEV_MAX_SWAPS: "" }, false)).toEqual(limits);
});

test("with a debugger: an hour, unless told", () => {
  expect(parseLimits({}, true).patienceMs).toBe(3_600_000);
  expect(parseLimits({ EVE_DEV_PATIENCE_SECONDS: "5" }, true).patienceMs).toBe(5000);
});

test("reads whole numbers in the unit of the name", () => {
  const env = { EVE_DEV_MAX_SWAPS: "1", EVE_DEV_MAX_MEMORY_MB: "2500", EVE_DEV_PATIENCE_SECONDS: "0" };
  expect(parseLimits(env, false)).toEqual({ swaps: 1, memory: 2_500_000_000, patienceMs: 0 });
});

test.each([
  ["EVE_DEV_MAX_SWAPS", "0"],
  ["EVE_DEV_MAX_SWAPS", "10001"],
  ["EVE_DEV_MAX_SWAPS", "1.5"],
  ["EVE_DEV_MAX_SWAPS", "-1"],
  ["EVE_DEV_MAX_SWAPS", "1e3"],
  ["EVE_DEV_MAX_MEMORY_MB", "99"],
  ["EVE_DEV_MAX_MEMORY_MB", "1GB"],
  ["EVE_DEV_MAX_MEMORY_MB", " 500"],
  ["EVE_DEV_PATIENCE_SECONDS", "3601"],
  ["EVE_DEV_PATIENCE_SECONDS", "forever"],
])("refuses %s=%s, naming it and what it may be", (name, value) => {
  expect(() => parseLimits({ [name]: value }, false)).toThrow(
    expect.objectContaining({
      code: "CONFIG_INVALID",
      message: expect.stringContaining(`${name}=${value} `),
      fix: expect.stringContaining(name),
    }),
  );
});
