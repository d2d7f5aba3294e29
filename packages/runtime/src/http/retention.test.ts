import { expect, test } from "vitest";
import { readRetention } from "./retention.ts";

test.each([
  [undefined, 30 * 86_400_000],
  ["", 30 * 86_400_000],
  ["7", 7 * 86_400_000],
  ["0.5", 43_200_000],
  ["forever", Infinity],
])("EVE_RETENTION_DAYS=%s is %d ms", (days, ms) => {
  expect(readRetention(days === undefined ? {} : { EVE_RETENTION_DAYS: days })).toBe(ms);
});

test.each(["0", "-1", "1e3", "never", "30d", " 7", "9".repeat(400)])("EVE_RETENTION_DAYS=%j is refused", (days) => {
  expect(() => readRetention({ EVE_RETENTION_DAYS: days })).toThrow(
    expect.objectContaining({ code: "CONFIG_INVALID", fix: expect.stringContaining("forever") }),
  );
});
