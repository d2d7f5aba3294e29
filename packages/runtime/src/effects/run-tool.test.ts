import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineTool, type ToolContext } from "../define/index.ts";
import type { EffectContext } from "../engine/ports.ts";
import { ADA, startTurn } from "../engine/session.fixture.ts";
import { createRegistry } from "../registry/registry.ts";
import { steeredTool } from "../engine/text.ts";
import { createTestSandboxes } from "../sandbox/sandboxes.fixture.ts";
import { createCallbackTokens } from "../transport/callback-token.ts";
import type { Member } from "./perform.ts";
import { runTool } from "./run-tool.ts";

type Execute = (input: { a: number }, ctx: ToolContext) => unknown;

async function run(
  execute: Execute,
  {
    input = { a: 1 } as unknown,
    toolName = "add",
    signal = new AbortController().signal,
    steered = new AbortController().signal,
    interrupted = false,
  } = {},
) {
  const definition = defineTool({ description: "Adds.", inputSchema: z.object({ a: z.number() }), execute });
  const tool = {
    name: "add",
    source: "tools/add.ts",
    description: "Adds.",
    inputSchema: {},
    onInterrupt: "retry",
  } as const;
  const node = { id: "root", name: "x", description: "", modelId: "m", tools: [tool], subagents: [], composition: [] };
  const registry = createRegistry(
    { version: 1, member: "x", buildId: "b", nodes: [node] },
    { "tools/add.ts": definition },
  );
  const member: Member = {
    registry: () => registry,
    env: {},
    tokens: createCallbackTokens("s"),
    sandboxes: createTestSandboxes(() => registry),
    publicBase: () => "",
    lastEventAt: async () => undefined,
    log: () => {},
  };
  const context: EffectContext = { state: startTurn().state, signal, steered, interrupted, stream: () => {} };
  const call = { callId: "t1", toolName, input, stepIndex: 0, onInterrupt: "retry" } as const;
  return runTool(member, { id: "tool:turn_0:t1", kind: "tool", turnId: "turn_0", call, steered: false }, context);
}

describe("runTool", () => {
  test("§21 the call's context, with the same key for every run of it", async () => {
    const seen: ToolContext[] = [];
    for (const _ of [1, 2]) await run((_input, ctx) => void seen.push(ctx));
    expect(seen[0]).toMatchObject({
      callId: "t1",
      toolName: "add",
      idempotencyKey: "ses_1:turn_0:t1",
      session: { id: "ses_1", auth: { current: { principalId: "ada" }, initiator: { principalId: "ada" } } },
    });
    expect(seen[1]!.idempotencyKey).toBe(seen[0]!.idempotencyKey);
  });

  test("a result that is too large to keep fails and says so", async () => {
    expect(await run(() => "x".repeat(1024 * 1024))).toMatchObject({
      status: "failed",
      output: expect.stringMatching(/^TOOL_FAILED: add returned 1048578 characters of JSON; at most 1048576/),
    });
    expect(await run(() => "x".repeat(1024 * 1024 - 2))).toMatchObject({ status: "completed" });
  });

  test("§18.5 a tool can not change who the turn runs as", async () => {
    const settled = await run((_input, { session }) => {
      expect(Object.isFrozen(session.auth.initiator)).toBe(true);
      expect(Object.isFrozen(session.auth.current.attributes)).toBe(true);
      (session.auth.current as { principalId: string }).principalId = "root";
    });
    expect(settled).toMatchObject({ status: "failed", output: expect.stringContaining("read only") });
    expect(ADA.principalId).toBe("ada");
  });

  test.each([
    [{ sum: 3 }, { sum: 3 }],
    ["text", "text"],
    [undefined, null],
    [null, null],
    [{ at: new Date(0), gone: undefined }, { at: "1970-01-01T00:00:00.000Z" }],
  ])("%o is settled as the JSON %o", async (made, output) => {
    expect(await run(() => made)).toEqual({ kind: "tool.settled", callId: "t1", status: "completed", output });
  });

  test.each([
    [() => () => {}],
    [() => 1n],
    [() => Symbol("x")],
    [
      () => {
        const loop: Record<string, unknown> = {};
        loop.loop = loop;
        return loop;
      },
    ],
  ])("what is no JSON fails the call", async (execute) => {
    expect(await run(execute)).toMatchObject({ status: "failed", output: expect.stringMatching(/^TOOL_FAILED: /) });
  });

  test.each([{}, { a: "1" }, null, "x"])("input of the wrong shape (%j) never reaches the tool", async (input) => {
    let ran = false;
    expect(await run(() => (ran = true), { input })).toMatchObject({
      status: "failed",
      output: expect.stringMatching(/^INVALID_INPUT: /),
    });
    expect(ran).toBe(false);
  });

  test("what a tool throws is its result, without a stack", async () => {
    const settled = await run(() => {
      throw new Error("no luck");
    });
    expect(settled).toMatchObject({ status: "failed", output: "TOOL_FAILED: no luck" });
  });

  test("nor the place of a file", async () => {
    const settled = await run(() => {
      throw new Error("open '/srv/app/none.txt'\n    at run (/srv/app/tool.ts:1:2)");
    });
    expect(settled).toMatchObject({ status: "failed", output: "TOOL_FAILED: open '…/none.txt'" });
  });

  test("what it throws may be anything", async () => {
    const loop: Record<string, unknown> = { big: 1n };
    loop.loop = loop;
    const settled = await run(() => {
      throw loop;
    });
    expect(settled).toMatchObject({ status: "failed", output: "TOOL_FAILED: [object Object]" });
  });

  test("also an error that is no plain one: the tool must not run again for it", async () => {
    let runs = 0;
    const fail = (error: unknown, steered?: AbortSignal) =>
      run(() => {
        runs++;
        throw error;
      }, steered && { steered });
    const sites = Object.assign(new Error("sites"), { stack: [{}] });
    const circle: Error = new Error("circle");
    circle.cause = circle;
    expect(await fail(sites)).toMatchObject({ status: "failed", output: "TOOL_FAILED: sites" });
    expect(await fail(circle, AbortSignal.abort())).toMatchObject({ status: "failed", output: "TOOL_FAILED: circle" });
    expect(runs).toBe(2);
  });

  test("a tool that this build does not have fails the call", async () => {
    expect(await run(() => 1, { toolName: "gone" })).toMatchObject({ status: "failed" });
  });

  test("a call that is aborted while it runs has no result", async () => {
    const controller = new AbortController();
    const execute: Execute = (_, { abortSignal }) => {
      controller.abort();
      abortSignal.throwIfAborted();
    };
    expect(await run(execute, { signal: controller.signal })).toBeUndefined();
  });

  test("a call that was aborted before does not run", async () => {
    let ran = false;
    expect(await run(() => (ran = true), { signal: AbortSignal.abort() })).toBeUndefined();
    expect(ran).toBe(false);
  });
});

describe("§16 a call that a message asks to stop early", () => {
  /** A tool that the message reaches while it runs. */
  const runSteered = (execute: (signal: AbortSignal) => unknown) => {
    const controller = new AbortController();
    return run(
      (_, { abortSignal }) => {
        expect(abortSignal.aborted).toBe(false);
        controller.abort();
        expect(abortSignal.aborted).toBe(true);
        return execute(abortSignal);
      },
      { steered: controller.signal },
    );
  };

  test("may end with what it has: that counts", async () => {
    expect(await runSteered(() => "half")).toMatchObject({ status: "completed", output: "half" });
  });

  test.each<[string, (signal: AbortSignal) => unknown]>([
    ["the signal's reason", (signal) => signal.throwIfAborted()],
    [
      "what a library made of that",
      (signal) => {
        throw new Error("request failed", { cause: signal.reason });
      },
    ],
  ])("says so to the model when it throws %s", async (_, execute) => {
    expect(await runSteered(execute)).toMatchObject({ status: "failed", output: steeredTool("add") });
  });

  test("keeps its own reason when it failed by itself", async () => {
    const settled = await runSteered(() => {
      throw new Error("card declined");
    });
    expect(settled).toMatchObject({ status: "failed", output: "TOOL_FAILED: card declined" });
  });

  test.each([false, true])(
    "§21 runs all the same, after a crash (%s) too, and can tell by its signal",
    async (interrupted) => {
      const runs: boolean[] = [];
      const execute: Execute = (_, { abortSignal }) => runs.push(abortSignal.aborted);
      const steered = AbortSignal.abort();
      expect(await run(execute, { steered, interrupted })).toMatchObject({ status: "completed" });
      expect(runs).toEqual([true]);
    },
  );

  test("that nobody wants any more has no result, whatever was said", async () => {
    const execute: Execute = (_, { abortSignal }) => abortSignal.throwIfAborted();
    const signal = AbortSignal.abort();
    expect(await run(execute, { signal, steered: AbortSignal.abort() })).toBeUndefined();
  });
});
