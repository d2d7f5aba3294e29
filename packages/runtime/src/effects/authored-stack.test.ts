import { describe, expect, it } from "vitest";
import { describeFailure, formatStack } from "./authored-stack.ts";

const error = Object.assign(new Error("boom"), {
  stack: [
    "Error: boom",
    `    at execute (${process.cwd()}/agents/a/agent/tools/x.ts:12:5)`,
    `    at async file://${process.cwd()}/agents/a/agent/lib/y.ts:3:1`,
    "    at runTool (/w/packages/runtime/node_modules/eve/src/effects/run-tool.ts:34:20)",
    "    at /w/agents/a/.eve/dev/1/b/chunks/z.mjs:1:1",
    "    at process.processTicksAndRejections (node:internal/process/task_queues:104:5)",
    "    at new Promise (<anonymous>)",
  ].join("\n"),
});

describe("formatStack", () => {
  it("keeps the frames of authored code, with short paths", () => {
    expect(formatStack(error, {}).split("\n")).toEqual([
      "Error: boom",
      "    at execute (agents/a/agent/tools/x.ts:12:5)",
      "    at async agents/a/agent/lib/y.ts:3:1",
    ]);
  });

  it("leaves out the frames of this runtime, wherever it is", () => {
    const own = new Error("ours");
    expect(own.stack).toContain("authored-stack.test.ts");
    expect(formatStack(own, {})).toBe("Error: ours");
  });

  it("keeps all of them when asked to", () => expect(formatStack(error, { EVE_DEBUG: "1" })).toBe(error.stack));

  it("takes whatever was thrown", () => expect(formatStack("no", {})).toBe("Uncaught: no"));
});

describe("describeFailure", () => {
  it("is one line that ends with the innermost place in the member", () => {
    expect(describeFailure(error, "a")).toBe("boom (agents/a/agent/tools/x.ts:12)");
    const long = Object.assign(new Error("a\n  b\n\nc"), { stack: error.stack });
    expect(describeFailure(long, "a")).toBe("a b c (agents/a/agent/tools/x.ts:12)");
  });

  it("names no place of another member, and none when there is none", () => {
    expect(describeFailure(error, "b")).toBe("boom");
    expect(describeFailure("no", "a")).toBe("no");
  });
});
