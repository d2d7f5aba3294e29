import type { PublicEntry } from "./entry.ts";
import type { Effect } from "./decide.ts";
import type { EffectInput, MailInput, OpenInput } from "./input.ts";
import type { SessionState } from "./state.ts";
import type { Principal } from "../protocol/principal.ts";

/** An event that only adds text to one that completes later. */
export type Delta = Extract<PublicEntry, { type: "message.appended" | "reasoning.appended" }>;

/** What an effect is run with. */
export interface EffectContext {
  /** State in which the effect was decided on. */
  readonly state: SessionState;
  /** Aborts when the effect is no longer wanted. */
  readonly signal: AbortSignal;
  /** Aborts when the turn's caller has sent another message: what runs may end early, and its result counts. */
  readonly steered: AbortSignal;
  /** An earlier run of this effect was stopped by a crash; it may have had consequences. */
  readonly interrupted: boolean;
  /** Shows text while it comes. Never later than the result that completes it. */
  readonly stream: (delta: Delta) => void;
}

/**
 * Runs one effect to its result. It may run again after a crash. `undefined`: stopped because nobody wants it any
 * more. It does not throw: what fails is a result.
 */
export type Perform = (effect: Effect, context: EffectContext) => Promise<EffectInput | undefined>;

/** What can be known of a session without folding its log. Times are milliseconds since the epoch. */
export interface SessionHead {
  readonly sessionId: string;
  readonly nodeId: string;
  readonly agentName: string;
  /** The session of the same store that opened it. */
  readonly parentSessionId?: string;
  /** Its initiator (§18.3). */
  readonly owner: Principal;
  /** `working`: a turn is under way, or a message is unread; `waiting`: it takes the next message. */
  readonly status: "working" | "waiting" | "ended";
  readonly ended: boolean;
  /** Its events are gone for good; that it was there is all that is known. */
  readonly swept?: boolean;
  /** Number of public events so far: the index the next one gets. */
  readonly nextIndex: number;
  readonly createdAt: number;
  /** When its log last grew. */
  readonly updatedAt: number;
  readonly endedAt?: number;
}

export interface SessionList {
  readonly sessions: readonly SessionHead[];
  /** Where the next page begins; absent when there is none. */
  readonly cursor?: string;
}

/** `child`: a session that another one of this store opened goes with that one. */
export type RemoveOutcome = "removed" | "unknown" | "child";

export interface StoredEvent {
  readonly index: number;
  /** The event as a line of JSON, without the line break. */
  readonly line: string;
}

/** `conflict`: the id, or the key, was used before for something of another digest; nothing was done. */
export type DeliveryOutcome = "accepted" | "duplicate" | "conflict" | "unknown" | "ended";

export interface OpenOutcome {
  readonly sessionId: string;
  readonly created: boolean;
  readonly conflict: boolean;
}

/**
 * Durability: whatever keeps sessions on behalf of the core. It promises (and `host/conformance.fixture.ts` checks):
 * what it accepted is processed, once, in the order accepted; entries are appended only to the version they were
 * decided on; one result per effect id counts; an effect that a crash stopped runs again; messages between local
 * sessions are part of the commit that sends them; every public event gets one dense index; a session whose `deadline`
 * has come is told so; what has ended is kept for a time and then swept, a child with its parent.
 */
export interface Host {
  /** Takes up the work that an earlier process left. */
  start(): Promise<void>;
  /** Opens a session. The same `operationKey` opens the same one; `digest` stands for what was asked with it. */
  open(request: {
    readonly operationKey?: string;
    readonly digest?: string;
    readonly input: OpenInput;
  }): Promise<OpenOutcome>;
  /** Accepts a message to a session; when it returns `accepted` the message is durable. The same `id` is the same message. */
  deliver(sessionId: string, id: string, input: MailInput, digest?: string): Promise<DeliveryOutcome>;
  /** Whether a message of this id was accepted before. */
  delivered(sessionId: string, id: string): Promise<boolean>;
  head(sessionId: string): Promise<SessionHead | undefined>;
  /**
   * Sessions that no other one opened, newest first, of one owner or of all. A page goes on where the last one ended,
   * whatever was opened or removed since.
   *
   * @throws AgentError `BAD_REQUEST` for a `cursor` that no page has.
   */
  list(request: { readonly owner?: Principal; readonly limit: number; readonly cursor?: string }): Promise<SessionList>;
  /** Ids of the sessions of this store below one: its children, then theirs. */
  descendants(sessionId: string): Promise<readonly string[]>;
  state(sessionId: string): Promise<SessionState | undefined>;
  /** The state right after the public event `index`; `undefined` when there is no such event. */
  stateAt(sessionId: string, index: number): Promise<SessionState | undefined>;
  /** Up to `limit` events from index `from` on, and after the first no more than fit into `maxLength` characters. */
  events(sessionId: string, from: number, limit: number, maxLength?: number): Promise<readonly StoredEvent[]>;
  /** Calls `listener` whenever events were appended or the session ended. Returns how to stop. */
  subscribe(sessionId: string, listener: () => void): () => void;
  /**
   * Ends a session and deletes it with all its descendants. From now on nobody knows them; what their end sends to
   * others is still delivered, if that can be done in time.
   */
  remove(sessionId: string): Promise<RemoveOutcome>;
  /**
   * Stops all effects and lets go of the store. Nothing accepted is lost, and the tools that were stopped do not count
   * as interrupted. One that must not run twice (`onInterrupt: "fail"`) has `graceMs` (default 0) to finish.
   */
  close(graceMs?: number): Promise<void>;
}

/** Where a crash may be provoked by a test: around every commit and every effect. */
export type FaultPoint = "commit:before" | "commit:after" | "effect:before" | "effect:after";
