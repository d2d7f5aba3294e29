import type { Principal } from "../protocol/principal.ts";
import { advance } from "./advance.ts";
import { decide, type Effect } from "./decide.ts";
import type { Entry } from "./entry.ts";
import type { EffectInput, Input, MailInput, Post } from "./input.ts";
import { reduce } from "./reduce.ts";
import type { SessionState } from "./state.ts";

/** A session of the simulated world. */
export interface SimSession {
  readonly id: string;
  readonly member: Member;
  state: SessionState | undefined;
  /** Its log as the store holds it. */
  readonly log: string[];
  /** Messages accepted and not yet processed, by sender: in order per sender, in any order between senders. */
  readonly mail: Map<string, { readonly id: string; readonly input: MailInput }[]>;
  readonly accepted: Set<string>;
  /** Effects under way; `runs` tells a result of an aborted run from one of the present run. */
  readonly running: Map<string, Effect>;
}

export type Member = "here" | "there";

/** One input and what it made. */
export interface Step {
  readonly before: SessionState | undefined;
  readonly input: Input;
  /** Who sent it, when it is a message. */
  readonly sender: string | undefined;
  readonly entries: readonly Entry[];
  readonly after: SessionState | undefined;
  readonly now: number;
}

export interface Observer {
  /** Called after every input. */
  advanced(session: SimSession, step: Step): void;
}

/** Two members with a store each: what a host does, without time, I/O or threads. */
export interface World {
  readonly sessions: Map<string, SimSession>;
  open(member: Member, sender: string, operation: string, input: MailInput): string;
  /** Accepts a message, once per id. */
  accept(sessionId: string, sender: string, id: string, input: MailInput): void;
  /** Processes the oldest message of a sender. */
  process(session: SimSession, sender: string): void;
  /** Ends a running effect with a result. */
  settle(session: SimSession, effectId: string, input: EffectInput): void;
  /** Lets time go by, and tells one session. */
  pass(session: SimSession, ms: number): void;
  /** The model of a session begins to answer. */
  began(session: SimSession): void;
  /** Kills a member and starts it again. */
  crash(member: Member): void;
}

export function createWorld(observer: Observer): World {
  const sessions = new Map<string, SimSession>();
  const operations = new Map<string, string>();
  const clock = { now: 0 };
  let made = 0;
  let randoms = 0;

  const create = (id: string, member: Member): SimSession => {
    const session: SimSession = {
      id,
      member,
      state: undefined,
      log: [],
      mail: new Map(),
      accepted: new Set(),
      running: new Map(),
    };
    sessions.set(id, session);
    return session;
  };
  const accept = (sessionId: string, sender: string, id: string, input: MailInput): void => {
    const session = sessions.get(sessionId);
    if (session === undefined || session.accepted.has(id)) return;
    session.accepted.add(id);
    const queue = session.mail.get(sender) ?? [];
    session.mail.set(sender, [...queue, { id, input }]);
  };
  const send = (from: SimSession, post: Post): void => {
    if (!sessions.has(post.sessionId) && post.input.kind === "open") create(post.sessionId, from.member);
    accept(post.sessionId, from.id, post.id, post.input);
  };
  const feed = (
    session: SimSession,
    input: Input,
    { start = true, sender }: { start?: boolean; sender?: string } = {},
  ): void => {
    const before = session.state;
    const { entries, posts, state } = advance(before, input, {
      sessionId: session.id,
      modelId: "sim",
      eveVersion: "0",
      now: clock.now,
      compactAt: 60,
      sessionTimeoutMs: 1_000,
      taskLimits: { timeoutMs: 500, silenceMs: 100 },
      base: `/${session.member}`,
      newSessionId: () => `${session.member}-${++made}`,
      random: () => String(++randoms).padStart(6, "0"),
    });
    session.state = state;
    session.log.push(...entries.map((entry) => JSON.stringify(entry)));
    for (const post of posts) send(session, post);
    observer.advanced(session, { before, input, sender, entries, after: state, now: clock.now });
    if (start) startEffects(session);
  };
  const startEffects = (session: SimSession): void => {
    if (session.state === undefined) return;
    const wanted = new Map(decide(session.state).map((effect) => [effect.id, effect]));
    for (const id of session.running.keys()) if (!wanted.has(id)) session.running.delete(id);
    for (const [id, effect] of wanted) if (!session.running.has(id)) session.running.set(id, effect);
  };

  return {
    sessions,
    accept,
    open: (member, sender, operation, input) => {
      const known = operations.get(operation);
      if (known !== undefined) return known;
      const { id } = create(`${member}-${++made}`, member);
      operations.set(operation, id);
      accept(id, sender, "open", input);
      return id;
    },
    process: (session, sender) => {
      const [first, ...rest] = session.mail.get(sender) ?? [];
      if (rest.length > 0) session.mail.set(sender, rest);
      else session.mail.delete(sender);
      if (first !== undefined) feed(session, first.input, { sender });
    },
    settle: (session, effectId, input) => {
      if (!session.running.delete(effectId)) throw new Error(`${effectId} does not run.`);
      feed(session, input);
    },
    pass: (session, ms) => {
      clock.now += ms;
      feed(session, { kind: "time.passed" });
    },
    began: (session) => feed(session, { kind: "model.began" }),
    crash: (member) => {
      for (const session of sessions.values()) {
        if (session.member !== member) continue;
        session.running.clear();
        session.state = fold(session.log);
        if (session.state === undefined) continue;
        for (const { id } of decide(session.state))
          feed(session, { kind: "effect.interrupted", effectId: id }, { start: false });
        startEffects(session);
      }
    },
  };
}

/** The state that the stored log says. */
export function fold(log: readonly string[]): SessionState | undefined {
  return log.map((line) => JSON.parse(line) as Entry).reduce<SessionState | undefined>(reduce, undefined);
}

export const CALLERS: readonly Principal[] = ["ada", "bob"].map((principalId) => ({
  authenticator: "sim",
  principalId,
  principalType: "user",
  attributes: {},
}));
