import { readLines } from "../../support/event-reader.ts";
import type { StreamEvent } from "../../../packages/runtime/src/protocol/events.ts";
import type { MemberName, Stream } from "../history.ts";

/** A session, where its stream is, and where else. */
interface Relative {
  readonly sessionId: string;
  readonly member: MemberName;
  readonly path: string;
  /** The same stream, relayed by the member that called this session's. */
  readonly relay?: string;
  readonly parent?: Stream["parent"];
  readonly isHidden?: boolean;
}

export type Root = Pick<Relative, "sessionId" | "member" | "isHidden">;
export type Origins = Readonly<Record<MemberName, string>>;

/** Streams of sessions that were at rest once, by id: only their parents can wake them. */
export type AtRest = Map<string, Stream>;

/**
 * Reads the streams of sessions and of everybody below them, as their `agent.started` events name them.
 *
 * @param known Streams that need not be read again; those found at rest are added.
 */
export async function readFamilies(origins: Origins, roots: readonly Root[], known: AtRest): Promise<Stream[]> {
  const streams = new Map<string, Stream>();
  let level: readonly Relative[] = roots.map((root) => ({ ...root, path: streamPath(root) }));
  while (level.length > 0) {
    const children: Relative[] = [];
    for (const relative of level) {
      const stream = known.get(relative.sessionId) ?? (await readStream(origins, relative));
      streams.set(relative.sessionId, stream);
      if (isAtRest(stream.lines)) known.set(relative.sessionId, stream);
      children.push(...childrenOf(stream));
    }
    level = children.filter(({ sessionId }) => !streams.has(sessionId));
  }
  return [...streams.values()];
}

/** Nothing is left to do in a session whose stream ends like this. A child may be announced when nobody waits for it. */
export function isAtRest(lines: readonly string[]): boolean {
  const types = lines.map((line) => (JSON.parse(line) as StreamEvent).type);
  const last = types.findLast((type) => type !== "agent.started");
  return last === "session.waiting" || last === "session.completed";
}

export function isEnded(lines: readonly string[]): boolean {
  return lines.some((line) => (JSON.parse(line) as StreamEvent).type === "session.completed");
}

async function readStream(origins: Origins, relative: Relative): Promise<Stream> {
  const { sessionId, member, path, relay, parent, isHidden } = relative;
  const lines = await readLines(`${origins[member]}${path}?follow=false`);
  const relayed = relay === undefined ? undefined : await readLines(`${origins.caller}${relay}?follow=false`);
  return {
    sessionId,
    member,
    lines,
    reads: relayed === undefined ? [] : [{ what: "relayed", from: 0, lines: relayed }],
    ...(parent === undefined ? {} : { parent }),
    ...(isHidden === undefined ? {} : { isHidden }),
  };
}

function childrenOf({ sessionId, member, lines }: Stream): Relative[] {
  return lines.flatMap((line): Relative[] => {
    const { type, data } = JSON.parse(line) as StreamEvent;
    if (type !== "agent.started") return [];
    const child = { sessionId: data.sessionId, parent: { sessionId, callId: data.callId, taskId: data.taskId ?? "" } };
    if (data.remote === undefined) return [{ ...child, member, path: data.streamPath }];
    return [{ ...child, member: "peer", path: streamPath({ ...child, member: "peer" }), relay: data.streamPath }];
  });
}

function streamPath({ member, sessionId }: Root): string {
  return `/eve/${member}/v1/session/${sessionId}/stream`;
}
