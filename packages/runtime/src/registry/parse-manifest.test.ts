import { expect, test } from "vitest";
import { AgentError } from "../errors.ts";
import { parseManifest } from "./parse-manifest.ts";

test.each([[undefined], [{}], [{ version: 999, member: "x" }], ["text"]])("%j is no manifest", (manifest) => {
  try {
    parseManifest(manifest);
    expect.unreachable();
  } catch (error) {
    expect(AgentError.is(error, "CONFIG_INVALID") && error.message).toMatch(/^manifest\.json is none [^\n]*$/);
  }
});
