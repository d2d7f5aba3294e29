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

/** What can be known of a session without folding its log. */
export interface SessionHead {
  readonly sessionId: string;
  readonly nodeId: string;
  /** Its initiator (§18.3). */
  readonly owner: Principal;
  readonly ended: boolean;
  /** Its events are gone for good; that it was there is all that is known. */
  readonly swept?: boolean;
  /** Number of public events so far: the index the next one gets. */
  readonly nextIndex: number;
}

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
 * sessions are part of the commit that sends them; every public event gets one dense index.
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
  state(sessionId: string): Promise<SessionState | undefined>;
  /** Up to `limit` events from index `from` on, and after the first no more than fit into `maxLength` characters. */
  events(sessionId: string, from: number, limit: number, maxLength?: number): Promise<readonly StoredEvent[]>;
  /** Calls `listener` whenever events were appended or the session ended. Returns how to stop. */
  subscribe(sessionId: string, listener: () => void): () => void;
  /** Stops all effects and lets go of the store. Nothing accepted is lost. */
  close(): Promise<void>;
}

/** Where a crash may be provoked by a test: around every commit and every effect. */
export type FaultPoint = "commit:before" | "commit:after" | "effect:before" | "effect:after";
