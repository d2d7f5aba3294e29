import { expect, test } from "vitest";
import { authoredFrame, lineOfDefaultExport, lineOfOption } from "./locate.ts";

const SOURCE = `import { defineTool } from "eve/tools";
// export default nothing
const before = { name: "other" };
export default defineTool({
  // Before: defineTool({ name: "old" })
  description: "name: not this one",
  "name": "x",
  inputSchema,
  execute() {},
});
`;

test("finds the default export, not a comment about it", () => {
  expect(lineOfDefaultExport(SOURCE)).toBe(4);
  expect(lineOfDefaultExport("const a = 1;\nexport { a as default };\n")).toBe(2);
  expect(lineOfDefaultExport("export const a = 1;\n")).toBe(1);
});

test("finds an option below the default export, quoted, shorthand or as a method", () => {
  expect(lineOfOption(SOURCE, "name")).toBe(7);
  expect(lineOfOption(SOURCE, "inputSchema")).toBe(8);
  expect(lineOfOption(SOURCE, "execute")).toBe(9);
  expect(lineOfOption(SOURCE, "absent")).toBe(4);
  expect(lineOfOption(`export default defineAgent({ tool: 1, model: "x" });`, "model")).toBe(1);
  expect(lineOfOption(SOURCE, "name", 1)).toBe(3);
});

test("finds the innermost authored frame of a stack", () => {
  const stack = [
    "Error: no (/m/agent/not-a-frame.ts)",
    "    at check (/w/packages/runtime/src/define/check-options.ts:9:1)",
    "    at Object.parse (/m/node_modules/zod/index.js:1:2)",
    "    at file:///m/.eve/build/x.mjs:3:4",
    "    at helper (file:///m/agent/lib/a%20b.ts:7:9)",
    "    at /m/agent/tools/t.ts:12:3",
  ].join("\n");
  expect(authoredFrame("/m", stack)).toEqual({ path: "/m/agent/lib/a b.ts", line: 7 });
  expect(authoredFrame("/other", stack)).toBeUndefined();
  expect(authoredFrame("/m", undefined)).toBeUndefined();
});
