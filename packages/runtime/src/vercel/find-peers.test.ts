import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { peersIn } from "./find-peers.ts";
import { tokenize } from "./tokenize.ts";

const peers = (source: string) => peersIn(source, "agents/a/agent/subagents/b.ts");

describe("peersIn", () => {
  it.each([
    ["a literal", `export default defineWorkspaceAgent({ name: "research" });`],
    ["single quotes", `export default defineWorkspaceAgent({ name: 'research', tool: false })`],
    ["a template without substitutions", "defineWorkspaceAgent({ name: `research` })"],
    ["as const", `defineWorkspaceAgent({ name: "research" as const })`],
    ["a quoted key", `defineWorkspaceAgent({ "name": "research" })`],
    ["name behind nested objects", `defineWorkspaceAgent({ transport: { url: "x", name: "no" }, name: "research" })`],
    ["an alias", `import { defineWorkspaceAgent as peer } from "eve"; export default peer({ name: "research" });`],
    ["a namespace", `import * as eve from "eve"; export default eve.defineWorkspaceAgent({ name: "research" });`],
    ["lines and comments", `defineWorkspaceAgent( // one\n {\n /* name: "no" */ name:\n"research",\n})`],
    [
      "inside another call",
      `defineDynamic({ events: { "session.started": () => defineWorkspaceAgent({ name: "research" }) } })`,
    ],
    [
      "behind a regular expression",
      `const quote = /["'\`{]/g; export default defineWorkspaceAgent({ name: "research" });`,
    ],
    ["behind a division", `const n = (1) / 2; const s = "/"; defineWorkspaceAgent({ name: "research" });`],
    ["behind nested templates", "const t = `a ${`b ${\"}\"} c`} \\` d`; defineWorkspaceAgent({ name: 'research' })"],
  ])("finds %s", (_, source) => expect(peers(source)).toEqual(["research"]));

  it.each([
    ["a comment", `// defineWorkspaceAgent({ name: "research" })`],
    ["a string", `const text = 'defineWorkspaceAgent({ name: "research" })';`],
    ["an import", `import { defineWorkspaceAgent } from "eve";`],
    ["another helper", `export default defineRemoteAgent({ name: "research" });`],
  ])("finds nothing in %s", (_, source) => expect(peers(source)).toEqual([]));

  it.each([
    ["a variable", `\ndefineWorkspaceAgent({ name: PEER })`],
    ["a shorthand", `\ndefineWorkspaceAgent({ name })`],
    ["a template with substitutions", "\ndefineWorkspaceAgent({ name: `re${x}` })"],
    ["a sum", `\ndefineWorkspaceAgent({ name: "re" + "search" })`],
    ["a spread", `\ndefineWorkspaceAgent({ ...options })`],
    ["options from elsewhere", `\ndefineWorkspaceAgent(options)`],
    ["no name", `\ndefineWorkspaceAgent({ tool: false })`],
  ])("refuses %s, naming the line", (_, source) => {
    expect(() => peers(source)).toThrow("agents/a/agent/subagents/b.ts:2 does not name its peer as a plain string.");
  });
});

describe("tokenize", () => {
  it("ends for every text", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."`'\"/\\${}[]()a \n*") }), (text) => void tokenize(text)),
    );
  });
});
