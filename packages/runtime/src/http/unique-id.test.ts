import { expect, test } from "vitest";
import { newUlid } from "./unique-id.ts";

test("ids are ULIDs, unique and in the order they were made", () => {
  const ids = Array.from({ length: 5_000 }, newUlid);
  expect(ids.filter((id) => !/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(id))).toEqual([]);
  expect(new Set(ids).size).toBe(ids.length);
  expect([...ids].sort()).toEqual(ids);
});
