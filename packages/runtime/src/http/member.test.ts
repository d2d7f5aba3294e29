import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { none } from "../channels/auth.ts";
import { eveChannel } from "../channels/eve.ts";
import { defineAgent, defineTool } from "../define/index.ts";
import { MANIFEST_VERSION } from "../protocol/manifest.ts";
import type { StreamEvent } from "../protocol/events.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { createMember, type Bundle, type Member } from "./member.ts";
import { readUntil } from "./model-turn.fixture.ts";

const SESSION = "http://127.0.0.1/eve/lead/v1/session";

const folders: string[] = [];
const members: Member[] = [];

afterEach(async () => {
  await Promise.all(members.splice(0).map((member) => member.close()));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

test("a subagent that a swap removes while it works fails, and its parent hears of it", async () => {
  const started = Promise.withResolvers<void>();
  const released = Promise.withResolvers<string>();
  const agent = defineAgent({
    model: scriptedModel(
      [{ calls: [{ name: "helper", input: { message: "go" } }] }, { text: "" }, { text: "the helper is gone" }],
      { onTestFinished },
    ),
  });
  const lead = await create(
    withHelper({
      "agent.ts": agent,
      "subagents/helper/agent.ts": defineAgent({
        model: scriptedModel([{ calls: [{ name: "wait", input: {} }] }], { onTestFinished }),
      }),
      "subagents/helper/tools/wait.ts": defineTool({
        description: "Waits.",
        inputSchema: z.object({}),
        execute: () => {
          started.resolve();
          return released.promise;
        },
      }),
    }),
  );
  const { sessionId } = (await (await post(lead, SESSION, { message: "hi" })).json()) as { sessionId: string };
  await started.promise;
  lead.swap({ manifest: manifest(), modules: { ...CHANNEL, "agent.ts": agent } });
  released.resolve("waited");
  const events = await until(lead, sessionId, "session.waiting");
  expect(events.find(({ type }) => type === "task.settled")?.data).toMatchObject({
    status: "failed",
    error: { code: "SUBAGENT_UNAVAILABLE" },
  });
  expect(events.findLast((event) => event.type === "message.completed")?.data).toMatchObject({
    message: "the helper is gone",
  });
});

const CHANNEL = { "channels/eve.ts": eveChannel({ auth: [none()] }) };

async function create(bundle: Bundle): Promise<Member> {
  const folder = mkdtempSync(join(tmpdir(), "member-"));
  folders.push(folder);
  const member = await createMember(bundle, {
    env: {},
    storeFolder: folder,
    origin: () => "http://a.invalid",
    log: () => {},
  });
  members.push(member);
  await member.start();
  return member;
}

async function post(member: Member, url: string, body: unknown): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return member.fetch(new Request(url, { method: "POST", headers, body: JSON.stringify(body) }));
}

function until(member: Member, sessionId: string, type: StreamEvent["type"]): Promise<StreamEvent[]> {
  return readUntil(member, `${SESSION}/${sessionId}/stream?startIndex=0`, type);
}

const NODE = { name: "lead", description: "Leads.", modelId: "test/model", tools: [], subagents: [], composition: [] };

function manifest(root: object = {}, ...nodes: readonly object[]): unknown {
  return {
    version: MANIFEST_VERSION,
    member: "lead",
    buildId: "b1",
    channel: "channels/eve.ts",
    nodes: [{ ...NODE, id: "root", source: "agent.ts", ...root }, ...nodes],
  };
}

function withHelper(modules: Bundle["modules"]): Bundle {
  const source = "subagents/helper/agent.ts";
  const wait = "subagents/helper/tools/wait.ts";
  const helper = { name: "helper", kind: "local", source, description: "Helps.", tool: true, nodeId: "root/helper" };
  return {
    modules: { ...CHANNEL, ...modules },
    manifest: manifest(
      {
        subagents: [helper],
        composition: [{ name: "helper", visible: true, kind: "agent", reason: "derived", source }],
      },
      {
        ...NODE,
        id: "root/helper",
        name: "helper",
        source,
        tools: [
          { name: "wait", source: wait, description: "Waits.", inputSchema: { type: "object" }, onInterrupt: "retry" },
        ],
        composition: [{ name: "wait", visible: true, kind: "tool", reason: "authored", source: wait }],
      },
    ),
  };
}
