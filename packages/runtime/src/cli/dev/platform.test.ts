import { expect, it } from "vitest";
import { toOrigin } from "./platform.ts";

it.each([
  [{}, "127.0.0.1", "http://127.0.0.1:4000"],
  [{}, "0.0.0.0", "http://127.0.0.1:4000"],
  [{}, "::1", "http://[::1]:4000"],
  [{ VERCEL_URL: "localhost:3000" }, "127.0.0.1", "http://127.0.0.1:4000"],
  [{ VERCEL_URL: "localhost:3000", __VERCEL_DEV_RUNNING: "1" }, "127.0.0.1", "http://localhost:3000"],
  [{ EVE_ORIGIN: "http://127.0.0.1:3000/", __VERCEL_DEV_RUNNING: "1" }, "127.0.0.1", "http://127.0.0.1:3000"],
])("with %j at %s others reach it at %s", (env, host, origin) => {
  expect(toOrigin(env, { host, port: 4000 })).toBe(origin);
});
