import { describe, expect, test } from "vitest";
import { TASK_CANCEL_TOOL, TASK_WAIT_TOOL } from "../engine/text.ts";
import type { ProjectedTool } from "../registry/projection.ts";
import { resolveCall } from "./resolve-call.ts";

const manifest = { name: "worker", kind: "local", source: "w.ts", description: "Works.", tool: true } as const;
const tool = (name: string, target: ProjectedTool["target"]): [string, ProjectedTool] => [
  name,
  { name, description: "", inputSchema: {}, target },
];
const TOOLS = new Map([
  tool("worker", { kind: "agent", subagent: { kind: "local", manifest, nodeId: "root/worker" } }),
  tool(TASK_WAIT_TOOL, { kind: "task-wait" }),
  tool(TASK_CANCEL_TOOL, { kind: "task-cancel" }),
]);

const resolve = (toolName: string, input: unknown) =>
  resolveCall({ type: "tool-call", toolCallId: "c1", toolName, input } as never, TOOLS).target;

describe("a call of eve__task_wait", () => {
  test.each([
    [{}, { kind: "wait" }],
    [undefined, { kind: "wait" }],
    [{ timeoutSeconds: 5 }, { kind: "wait", timeoutMs: 5_000 }],
    [{ timeoutSeconds: 0.0001 }, { kind: "wait", timeoutMs: 1 }],
    [{ timeoutSeconds: 86_400 }, { kind: "wait", timeoutMs: 86_400_000 }],
  ])("%j is %j", (input, target) => {
    expect(resolve(TASK_WAIT_TOOL, input)).toEqual(target);
  });

  test.each([0, -1, 86_401, Infinity, NaN, "5", null, true])("a timeoutSeconds of %j is refused", (timeoutSeconds) => {
    expect(resolve(TASK_WAIT_TOOL, { timeoutSeconds })).toMatchObject({
      kind: "refused",
      code: "INVALID_INPUT",
      message: expect.stringContaining("`timeoutSeconds` must be a number above 0, and at most 86400"),
    });
  });
});

describe("a call of eve__task_cancel", () => {
  test("names a task, whether there is one or not", () => {
    expect(resolve(TASK_CANCEL_TOOL, { taskId: "worker-1" })).toEqual({ kind: "stop", taskId: "worker-1" });
  });

  test.each([{}, undefined, null, { taskId: 1 }, { taskId: null }])("%j is refused", (input) => {
    expect(resolve(TASK_CANCEL_TOOL, input)).toMatchObject({ kind: "refused", code: "INVALID_INPUT" });
  });
});

describe("§5.1 a call of an agent", () => {
  test("reaches the agent that the projection holds under its name", () => {
    expect(resolve("worker", { message: "work" })).toEqual({
      kind: "local",
      nodeId: "root/worker",
      description: "Works.",
    });
  });

  test.each([{}, { message: "" }, { message: " \n" }, { message: 1 }, { message: "x", taskId: 1 }, null])(
    "%j is refused",
    (input) => {
      expect(resolve("worker", input)).toMatchObject({ kind: "refused", code: "INVALID_INPUT" });
    },
  );
});

test.each(["eve__search", "agent", "worker-1", "__proto__", ""])(
  "§4 %j, which is not projected, is refused",
  (name) => {
    expect(resolve(name, { message: "x" })).toMatchObject({ kind: "refused", code: "UNKNOWN_TOOL" });
  },
);
