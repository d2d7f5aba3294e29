import { describe, expect, it } from "vitest";
import { MANIFEST_VERSION, type Manifest } from "../protocol/manifest.ts";
import { checkEnv } from "./check-env.ts";

const manifest = (requiredEnv?: string[]): Manifest => ({
  version: MANIFEST_VERSION,
  member: "a",
  buildId: "b",
  nodes: [],
  ...(requiredEnv && { requiredEnv }),
});

describe("checkEnv", () => {
  it("passes when nothing is missing", () => {
    checkEnv(manifest(), {});
    checkEnv(manifest(["A"]), { A: "x" });
  });

  it("names all that are missing or empty, where to set them, and no value", () => {
    const check = () => checkEnv(manifest(["A", "B", "C"]), { B: "", C: "secret" });
    expect(check).toThrow("agents/a needs these variables, which are not set: A, B.");
    expect(check).toThrow(expect.objectContaining({ code: "ENV_MISSING", data: { missing: ["A", "B"] } }));
    expect(check).toThrow(expect.objectContaining({ fix: expect.stringContaining("agents/a/.env.local") }));
  });

  it("speaks of the project on the platform", () => {
    expect(() => checkEnv(manifest(["A"]), { VERCEL: "1", VERCEL_ENV: "production" })).toThrow(
      expect.objectContaining({ fix: expect.stringContaining("project") }),
    );
  });
});
