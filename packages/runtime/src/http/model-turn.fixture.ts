import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import * as z from "zod";
import { none } from "../channels/auth.ts";
import { eveChannel } from "../channels/eve.ts";
import { defineAgent, defineTool, type AgentOptions } from "../define/index.ts";
import type { StreamEvent } from "../protocol/events.ts";
import { MANIFEST_VERSION } from "../protocol/manifest.ts";
import { createMember, type Bundle, type Member } from "./member.ts";

const ORIGIN = "http://127.0.0.1/eve/lead/v1";

/** A conversation with a member whose agents are `lead` and its subagent `helper`, both with the tools `add` and `fail`. */
export interface Conversation {
  /** Sends a message; the events of its turn, once that is over. */
  turn(message: string): Promise<StreamEvent[]>;
  info(): Promise<unknown>;
  /** As after a restart of the process. */
  restart(): Promise<void>;
}

export async function converse(lead: AgentOptions, helper: AgentOptions = {}): Promise<Conversation> {
  const storeFolder = mkdtempSync(join(tmpdir(), "model-turn-"));
  let member = await open(lead, helper, storeFolder);
  let sessionId: string | undefined;
  let index = 0;
  onTestFinished(async () => {
    await member.close();
    rmSync(storeFolder, { recursive: true });
  });
  return {
    info: async () => (await member.fetch(new Request(`${ORIGIN}/info`))).json(),
    restart: async () => {
      await member.close();
      member = await open(lead, helper, storeFolder);
    },
    turn: async (message) => {
      const body = JSON.stringify({ message });
      const headers = { "content-type": "application/json" };
      const url = sessionId === undefined ? `${ORIGIN}/session` : `${ORIGIN}/session/${sessionId}`;
      const accepted = await member.fetch(new Request(url, { method: "POST", headers, body }));
      ({ sessionId } = (await accepted.json()) as { sessionId: string });
      const events = await readUntil(
        member,
        `${ORIGIN}/session/${sessionId}/stream?startIndex=${index}`,
        "session.waiting",
      );
      index += events.length;
      return events;
    },
  };
}

/** The events of a stream up to the first of this type. */
export async function readUntil(member: Member, url: string, type: StreamEvent["type"]): Promise<StreamEvent[]> {
  const response = await member.fetch(new Request(url));
  const events: StreamEvent[] = [];
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop()!;
    events.push(...lines.filter((line) => line.trim() !== "").map((line) => JSON.parse(line) as StreamEvent));
    const end = events.findIndex((event) => event.type === type);
    if (end >= 0) return events.slice(0, end + 1);
  }
  throw new Error(`The stream ended without ${type}.`);
}

async function open(lead: AgentOptions, helper: AgentOptions, storeFolder: string): Promise<Member> {
  const member = await createMember(bundle(lead, helper), {
    env: {},
    storeFolder,
    origin: () => "http://a.invalid",
    log: () => {},
  });
  await member.start();
  return member;
}

function bundle(lead: AgentOptions, helper: AgentOptions): Bundle {
  const source = "subagents/helper/agent.ts";
  const tool = (name: string) => ({
    name,
    source: `tools/${name}.ts`,
    description: `The tool ${name}.`,
    inputSchema: { type: "object", properties: { a: { type: "number" } } },
    onInterrupt: "retry",
  });
  const tools = [tool("add"), tool("fail")];
  const visible = tools.map((each) => ({
    name: each.name,
    visible: true,
    kind: "tool",
    reason: "authored",
    source: each.source,
  }));
  const node = { description: "Does it.", modelId: "test/model", tools, subagents: [], composition: visible };
  return {
    manifest: {
      version: MANIFEST_VERSION,
      member: "lead",
      buildId: "b",
      channel: "channels/eve.ts",
      nodes: [
        {
          ...node,
          id: "root",
          name: "lead",
          source: "agent.ts",
          instructions: "You lead.",
          subagents: [
            { name: "helper", kind: "local", source, description: "Helps.", tool: true, nodeId: "root/helper" },
          ],
          composition: [...visible, { name: "helper", visible: true, kind: "agent", reason: "derived", source }],
        },
        { ...node, id: "root/helper", name: "helper", source, instructions: "You help." },
      ],
    },
    modules: {
      "channels/eve.ts": eveChannel({ auth: [none()] }),
      "agent.ts": defineAgent(lead),
      [source]: defineAgent({ description: "Helps.", ...helper }),
      "tools/add.ts": defineTool({
        description: "Adds one.",
        inputSchema: z.object({ a: z.number() }),
        execute: ({ a }) => a + 1,
      }),
      "tools/fail.ts": defineTool({
        description: "Fails.",
        inputSchema: z.object({}),
        execute: () => {
          throw new Error("no luck");
        },
      }),
    },
  };
}
