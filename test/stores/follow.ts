import type { StreamEvent } from "../../packages/runtime/src/protocol/events.ts";
import { followEvents } from "../support/event-reader.ts";
import type { Member } from "../support/member.ts";
import { postJson } from "../support/post-json.ts";
import type { RecordedSession } from "../support/recorded-store.ts";

/** A session whose stream is read while it is brought into its state. */
export interface Followed extends AsyncDisposable {
  readonly sessionId: string;
  /** Waits for the n-th event of a type. */
  until(type: StreamEvent["type"], count?: number): Promise<StreamEvent>;
  /** Sends a message and waits until the turn has ended. */
  say(message: unknown): Promise<void>;
  post(path: string, body: unknown): Promise<void>;
  /** Adds to what is recorded. */
  keep(details: Partial<Details>): void;
  recorded(): RecordedSession;
}

type Details = Omit<RecordedSession, "sessionId" | "lines">;

/** Opens a session. */
export async function open(
  member: Member,
  details: Details,
  body: Readonly<Record<string, unknown>>,
): Promise<Followed> {
  const { operation } = details;
  const answer = await postJson(`${member.api}/session`, { ...body, ...operation });
  if (answer.status !== 202) throw new Error(`Create answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return follow(member, details, String(answer.body.sessionId));
}

/** Follows a session that is there. */
export function follow(member: Member, details: Details, sessionId: string): Followed {
  const kept = { ...details };
  const reader = followEvents(`${member.api}/session/${sessionId}/stream`);
  const until: Followed["until"] = async (type, count = 1) => {
    let seen = 0;
    const { event } = await reader.untilEvent(
      `${type} ${count} of ${details.state}`,
      (read) => read.event.type === type && ++seen === count,
    );
    return event;
  };
  const post: Followed["post"] = async (path, body) => {
    const { status } = await postJson(`${member.api}/session/${sessionId}${path}`, body);
    if (status >= 300) throw new Error(`POST ${path} to ${details.state} answered ${status}.`);
  };
  return {
    sessionId,
    until,
    post,
    say: async (message) => {
      const ended = reader.events.filter(({ event }) => event.type === "session.waiting").length;
      await post("", { message });
      await until("session.waiting", ended + 1);
    },
    keep: (more) => void Object.assign(kept, more),
    recorded: () => ({ ...kept, sessionId, lines: reader.events.map(({ line }) => line) }),
    [Symbol.asyncDispose]: () => reader[Symbol.asyncDispose](),
  };
}
