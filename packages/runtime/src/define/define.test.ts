import { describe, expect, test } from "vitest";
import { z } from "zod";
import { httpBasic, localDev } from "../channels/auth.ts";
import { eveChannel } from "../channels/eve.ts";
import {
  defineAgent,
  defineInstructions,
  defineRemoteAgent,
  defineTool,
  defineWorkspaceAgent,
  disableTool,
  kindOf,
} from "./index.ts";

const tool = { description: "Adds.", inputSchema: z.object({ a: z.number() }), execute: () => 1 };
const remote = { url: "https://x.example", description: "Far." };

/** Helper → valid options, and what it makes. */
const HELPERS = [
  [
    "defineAgent",
    defineAgent,
    {
      description: "Leads.",
      model: "anthropic/claude-opus-5.5",
      tool: "deferred",
      modelContextWindowTokens: 64_000,
      compaction: { thresholdPercent: 0.75 },
    },
    "agent",
  ],
  ["defineTool", defineTool, tool, "tool"],
  [
    "defineRemoteAgent",
    defineRemoteAgent,
    { ...remote, path: "/run", headers: { a: "b" }, auth: () => ({}), tool: false },
    "remote-agent",
  ],
  [
    "defineWorkspaceAgent",
    defineWorkspaceAgent,
    { name: "far", transport: { url: () => "https://x.example" } },
    "workspace-agent",
  ],
  ["eveChannel", eveChannel, { auth: [localDev()] }, "channel"],
] as const;

type Helper = (options: unknown) => object;

describe.each(HELPERS)("%s", (name, helper, options, kind) => {
  const define = helper as Helper;

  test("makes a frozen definition of its kind and leaves the options alone", () => {
    const given = Object.freeze({ ...options });
    const made = define(given);
    expect(kindOf(made)).toBe(kind);
    expect(Object.isFrozen(made)).toBe(true);
    expect(made).toMatchObject(options as object);
    expect(Object.keys(made)).not.toContain("brand");
  });

  test.each(["maxSubagentDepth", "Tool", "toString", "constructor", "hasOwnProperty"])(
    "refuses the unknown option %s and names it",
    (option) => {
      expect(() => define({ ...options, [option]: 1 })).toThrow(
        expect.objectContaining({
          code: "CONFIG_INVALID",
          message: expect.stringContaining(`"${option}"`),
          data: { option },
        }),
      );
    },
  );

  test.each([null, "x", 7, [], () => {}])("refuses %j instead of options", (given) => {
    expect(() => define(given)).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining(name) }),
    );
  });
});

describe("wrong types", () => {
  const wrong: [string, Helper, object, string, unknown][] = [
    ["defineAgent", defineAgent as Helper, {}, "description", ""],
    ["defineAgent", defineAgent as Helper, {}, "description", 7],
    ["defineAgent", defineAgent as Helper, {}, "model", " "],
    ["defineAgent", defineAgent as Helper, {}, "model", {}],
    ["defineAgent", defineAgent as Helper, {}, "reasoning", "hard"],
    ["defineAgent", defineAgent as Helper, {}, "modelOptions", "fast"],
    ["defineAgent", defineAgent as Helper, {}, "tool", "hidden"],
    ["defineAgent", defineAgent as Helper, {}, "tool", null],
    ["defineAgent", defineAgent as Helper, {}, "modelContextWindowTokens", 0],
    ["defineAgent", defineAgent as Helper, {}, "modelContextWindowTokens", "128k"],
    ["defineAgent", defineAgent as Helper, {}, "compaction", true],
    ["defineAgent", defineAgent as Helper, {}, "compaction", { thresholdPercent: 90 }],
    ["defineAgent", defineAgent as Helper, {}, "compaction", { threshold: 0.5 }],
    ["defineAgent", defineAgent as Helper, {}, "limits", 7],
    ["defineTool", defineTool as Helper, tool, "description", undefined],
    ["defineTool", defineTool as Helper, tool, "inputSchema", { type: "object" }],
    ["defineTool", defineTool as Helper, tool, "execute", "x"],
    ["defineTool", defineTool as Helper, tool, "onInterrupt", "explode"],
    ["defineRemoteAgent", defineRemoteAgent as Helper, remote, "url", "x.example"],
    ["defineRemoteAgent", defineRemoteAgent as Helper, remote, "url", "ftp://x.example"],
    ["defineRemoteAgent", defineRemoteAgent as Helper, remote, "url", undefined],
    ["defineRemoteAgent", defineRemoteAgent as Helper, remote, "description", undefined],
    ["defineRemoteAgent", defineRemoteAgent as Helper, remote, "auth", "token"],
    ["defineRemoteAgent", defineRemoteAgent as Helper, remote, "headers", 7],
    ["defineRemoteAgent", defineRemoteAgent as Helper, remote, "path", 7],
    ["defineWorkspaceAgent", defineWorkspaceAgent as Helper, { name: "far" }, "name", undefined],
    ["defineWorkspaceAgent", defineWorkspaceAgent as Helper, { name: "far" }, "transport", "https://x.example"],
    ["eveChannel", eveChannel as Helper, {}, "auth", {}],
    ["eveChannel", eveChannel as Helper, {}, "auth", [7]],
  ];
  test.each(wrong)("%s(%s, %o): %s can not be %j", (_, define, options, option, value) => {
    expect(() => define({ ...options, [option]: value })).toThrow(
      expect.objectContaining({
        code: "CONFIG_INVALID",
        message: expect.stringContaining(option),
        fix: expect.any(String),
      }),
    );
  });

  test("defineWorkspaceAgent checks its transport too", () => {
    expect(() => defineWorkspaceAgent({ name: "far", transport: { url: "nowhere" } })).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID" }),
    );
    expect(() =>
      defineWorkspaceAgent({ name: "far", transport: { url: "https://x.example", token: "x" } as never }),
    ).toThrow(/"token"/);
  });
});

describe("§0 limits of an agent", () => {
  test.each([0, -1, 1.5, NaN, Infinity, "30d", true, null])("sessionTimeoutMs can not be %j", (sessionTimeoutMs) => {
    expect(() => defineAgent({ limits: { sessionTimeoutMs: sessionTimeoutMs as number } })).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining("sessionTimeoutMs") }),
    );
  });

  test("sessionTimeoutMs is a time or false, and frozen with the definition", () => {
    expect(defineAgent({ limits: { sessionTimeoutMs: 1_000 } }).limits).toEqual({ sessionTimeoutMs: 1_000 });
    expect(Object.isFrozen(defineAgent({ limits: { sessionTimeoutMs: false } }).limits)).toBe(true);
  });

  test("there is no limit of depth", () => {
    expect(() => defineAgent({ limits: { maxSubagentDepth: 3 } as never })).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", data: { option: "maxSubagentDepth" } }),
    );
  });
});

describe("defaults", () => {
  test("§0 `tool` is true", () => {
    expect(defineAgent({}).tool).toBe(true);
    expect(defineRemoteAgent(remote).tool).toBe(true);
    expect(defineWorkspaceAgent({ name: "far" }).tool).toBe(true);
  });

  test("§21 an interrupted tool runs again", () => {
    expect(defineTool(tool).onInterrupt).toBe("retry");
  });

  test("§18.1 a channel is closed but for development", () => {
    expect(eveChannel().auth).toHaveLength(1);
    expect(eveChannel().auth[0]!({ method: "GET", url: "http://x", headers: new Headers() })).toBeNull();
  });
});

describe("the brand", () => {
  test("tells definitions from look-alikes", () => {
    for (const value of [undefined, null, "x", {}, { tool: true }, [], () => {}]) expect(kindOf(value)).toBeUndefined();
    expect(kindOf(disableTool())).toBe("disabled-tool");
    expect(kindOf(defineInstructions("Lead."))).toBe("instructions");
  });

  test("is known to another copy of this module", () => {
    expect((defineAgent({}) as never as Record<symbol, unknown>)[Symbol.for("eve.definition")]).toBe("agent");
  });

  test("does not survive a copy: what was changed is no definition", () => {
    expect(kindOf({ ...defineAgent({}) })).toBeUndefined();
  });

  test("what is inside a definition is frozen too", () => {
    const transport = { url: "https://x.example" };
    expect(Object.isFrozen(defineWorkspaceAgent({ name: "far", transport }).transport)).toBe(true);
    expect(Object.isFrozen(transport)).toBe(false);
    expect(Object.isFrozen(eveChannel({ auth: [httpBasic({ username: "a", password: "b" })] }).auth)).toBe(true);
  });
});

test.each(["", "  ", undefined, 7])("defineInstructions refuses %j", (text) => {
  expect(() => defineInstructions(text as string)).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
});
