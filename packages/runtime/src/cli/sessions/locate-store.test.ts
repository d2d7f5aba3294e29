import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFixtureWorkspace, type FixtureWorkspace } from "../../discover/fixture-workspace.ts";
import { isUsageError } from "../usage-error.ts";
import { locateStore } from "./locate-store.ts";
import type { Place } from "./parse-command.ts";

let workspace: FixtureWorkspace;
beforeAll(() => {
  workspace = createFixtureWorkspace({
    "agents/plain/agent/instructions.md": "Hi.",
    "agents/plain/.eve/store/store.db": "",
    "agents/plain/mine/store.db": "",
    "agents/kept/agent/instructions.md": "Hi.",
    "agents/kept/.env": "EVE_STORE=from-file",
    "agents/kept/from-file/store.db": "",
    "agents/new/agent/instructions.md": "Hi.",
    "elsewhere/store.db": "",
  });
});
afterAll(() => workspace.remove());

function locate(place: Place, cwd: string, env: Record<string, string> = {}): string {
  const { folder, file, shown } = locateStore(place, join(workspace.root, cwd), env);
  expect(file).toBe(join(folder, "store.db"));
  return `${folder.slice(workspace.root.length + 1)} ${shown.replace(workspace.root, "<root>")}`;
}

describe("locateStore", () => {
  it.each<[string, Place, string, Record<string, string>, string]>([
    ["of the folder's member", {}, "agents/plain", {}, "agents/plain/.eve/store .eve/store"],
    ["of a named one", { member: "plain" }, ".", {}, "agents/plain/.eve/store agents/plain/.eve/store"],
    [
      "of a named one beside this",
      { member: "plain" },
      "agents/kept",
      {},
      "agents/plain/.eve/store <root>/agents/plain/.eve/store",
    ],
    ["that a file of variables says", { member: "kept" }, ".", {}, "agents/kept/from-file agents/kept/from-file"],
    [
      "that the environment says",
      { member: "plain" },
      ".",
      { EVE_STORE: "mine" },
      "agents/plain/mine agents/plain/mine",
    ],
    ["that a flag says", { store: "elsewhere" }, ".", { EVE_STORE: "mine" }, "elsewhere elsewhere"],
    ["that is this folder", { store: "." }, "elsewhere", {}, "elsewhere ."],
  ])("the store %s", (_, place, cwd, env, found) => expect(locate(place, cwd, env)).toBe(found));

  it.each<[string, Place, string, RegExp]>([
    ["no member is said", {}, ".", /--member <name>.* There are kept, new, plain\./],
    ["no such member is there", { member: "nobody" }, ".", /no member "nobody"; there are kept, new, plain\./],
    ["a member's folder is another one", { member: "agents/plain" }, ".", /no member "agents\/plain"/],
  ])("%s: a usage error", (_, place, cwd, message) => {
    let thrown: unknown;
    try {
      locate(place, cwd);
    } catch (error) {
      thrown = error;
    }
    expect(isUsageError(thrown)).toBe(true);
    expect((thrown as Error).message).toMatch(message);
  });

  it("a store that is not there: where it was looked for, and nothing is made", () => {
    const nothing = expect.objectContaining({
      code: "NOT_FOUND",
      message: expect.stringMatching(/^There is no store in \.eve\/store: /),
      fix: expect.stringMatching(/--store <folder> or EVE_STORE/),
    });
    expect(() => locate({}, "agents/new")).toThrow(nothing);
    expect(() => locate({ store: "nowhere" }, ".")).toThrow(expect.objectContaining({ code: "NOT_FOUND" }));
  });

  it("a member alone is one without a workspace", () => {
    const alone = createFixtureWorkspace({});
    try {
      mkdirSync(join(alone.root, "solo/agent"), { recursive: true });
      mkdirSync(join(alone.root, "solo/.eve/store"), { recursive: true });
      writeFileSync(join(alone.root, "solo/.eve/store/store.db"), "");
      expect(locateStore({}, join(alone.root, "solo"), {}).shown).toBe(".eve/store");
    } finally {
      alone.remove();
    }
  });
});
