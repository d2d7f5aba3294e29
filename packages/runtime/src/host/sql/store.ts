import type { Entry } from "../../engine/entry.ts";
import type { MailInput, OpenInput, Post } from "../../engine/input.ts";
import type {
  DeliveryOutcome,
  OpenOutcome,
  RemoveOutcome,
  SessionHead,
  SessionList,
  StoredEvent,
} from "../../engine/ports.ts";
import type { SessionState } from "../../engine/state.ts";
import { messageOf } from "../../errors.ts";
import type { Principal } from "../../protocol/principal.ts";

type Awaitable<T> = T | Promise<T>;

/** A message accepted and not yet processed. */
export interface Mail {
  /** Order of acceptance. */
  readonly position: number;
  readonly input: MailInput;
}

/** What is to be written, together or not at all. */
export interface Commit {
  readonly sessionId: string;
  /** The version that the entries were decided on: the number of entries before them. */
  readonly version: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly entries: readonly StoredEntry[];
  /** Position of the message that the entries come from. */
  readonly taken?: number;
  readonly posts: readonly Post[];
  /** The session has effects to run, so a restart must take it up. */
  readonly active: boolean;
  /** A turn is under way, or what else a reader waits for. */
  readonly working: boolean;
  readonly ended: boolean;
  /** When the session wants to be told that time has passed, `null`: never; absent: as it was. */
  readonly due?: number | null;
  /** The state with the entries folded in, to be kept in place of the one kept before. */
  readonly snapshot?: SessionState;
  /** The list of effects that a clean stop left has been read. */
  readonly resumed?: boolean;
}

/** Characters that a commit wrote. */
export interface Written {
  readonly length: number;
  /** Absent when no snapshot was to be written. */
  readonly snapshotLength?: number;
}

export interface StoredEntry {
  readonly entry: Entry;
  /** Events only. */
  readonly id?: string;
}

export interface SessionLog {
  readonly version: number;
  /** The kept state; `entries` are those after it. */
  readonly snapshot: SessionState | undefined;
  readonly snapshotLength: number;
  /** Without deltas. */
  readonly entries: readonly Entry[];
  /** Characters of `entries`. */
  readonly length: number;
  /** Ids of effects that a clean stop left to be run again. */
  readonly stopped: readonly string[];
  readonly due: number | undefined;
}

/** A session in a list that is read page by page; `position` is where the next page begins. */
export interface Listed<Position> {
  readonly sessionId: string;
  readonly position: Position;
}

/** Removed sessions that are to be cleaned now; whether others may be at once, and whether some have yet to end. */
export interface RemovalStep {
  readonly sessionIds: readonly string[];
  readonly more: boolean;
  readonly left: boolean;
}

/** What one step of cleaning did: the session whose last row it deleted, and whether there is more to do. */
export interface CleanStep {
  readonly removed?: string;
  readonly more: boolean;
}

/**
 * The tables of `host/sql`, one implementation per dialect. Every method is one transaction.
 *
 * `commit` throws {@link StaleVersion} when the log has grown since `version`, {@link Unprocessable} for what is no
 * JSON. Every method throws AgentError `STORE_FULL` or `STORE_UNUSABLE` when the store does not work; then nothing of
 * the transaction happened.
 */
export interface Store {
  /** Creates a session with its first message, or finds the one that `operationKey` created. */
  create(request: {
    readonly sessionId: string;
    readonly at: number;
    readonly operationKey?: string;
    readonly digest?: string;
    readonly input: OpenInput;
  }): Awaitable<OpenOutcome>;
  accept(sessionId: string, id: string, input: MailInput, digest?: string): Awaitable<DeliveryOutcome>;
  /** A message of this id was accepted, whether or not it was processed since. */
  knows(sessionId: string, id: string): Awaitable<boolean>;
  commit(commit: Commit): Awaitable<Written>;
  /** What a session is folded from, up to and with the public event `through`; `undefined` when either is not there. */
  load(sessionId: string, through?: number): Awaitable<SessionLog | undefined>;
  mail(sessionId: string): Awaitable<readonly Mail[]>;
  events(sessionId: string, from: number, limit: number, maxLength?: number): Awaitable<readonly StoredEvent[]>;
  /** Notes, unless the log has grown since `version`, which effects were stopped in good order. */
  noteStopped(sessionId: string, version: number, effectIds: readonly string[]): Awaitable<void>;

  head(sessionId: string): Awaitable<SessionHead | undefined>;
  list(request: {
    readonly owner?: Principal;
    readonly limit: number;
    readonly cursor?: string;
  }): Awaitable<SessionList>;
  descendants(sessionId: string): Awaitable<readonly string[]>;
  /** Ids that begin so, of the sessions that are known, up to `limit` of them. */
  startingWith(beginning: string, limit: number): Awaitable<readonly string[]>;
  /** Sessions with effects to run or messages to process. */
  active(after: number | undefined, limit: number): Awaitable<readonly Listed<number>[]>;
  /** Sessions whose time has come, the earliest first. */
  due(now: number, after: DuePosition | undefined, limit: number): Awaitable<readonly Listed<DuePosition>[]>;
  /** The earliest time after `now` at which a session is due, and whether one is already. */
  nextDue(now: number): Awaitable<{ readonly at: number | undefined; readonly overdue: boolean }>;

  /** Makes a session and its descendants unknown, and has it end. */
  remove(sessionId: string, at: number): Awaitable<RemoveOutcome>;
  /** Gives up to `limit` removed sessions to be cleaned that have ended, or were removed before `before`. */
  endRemovals(before: number, limit: number): Awaitable<RemovalStep>;
  /** Gives up to `limit` sessions to be cleaned that ended before `before`; returns their ids. */
  expire(before: number, limit: number): Awaitable<readonly string[]>;
  /** When the session ended that is the next to expire. */
  earliestEnd(): Awaitable<number | undefined>;
  /** Deletes a few rows of what is to be cleaned. */
  clean(): Awaitable<CleanStep>;
  /** Gives some of the space that nothing uses back to the disk, if it is much; whether there is more. */
  shrink(): Awaitable<boolean>;

  /** Secret of this store, made once: callback tokens are derived from it. */
  secret(): Awaitable<string>;
  close(): Awaitable<void>;
}

/** What can be asked of a store that is opened to be read only. */
export interface StoreReader extends Pick<
  Store,
  "head" | "list" | "descendants" | "startingWith" | "events" | "load" | "close"
> {
  /** `undefined` when no member has opened the store yet. */
  secret(): Awaitable<string | undefined>;
}

/** Place of a session in the order of what is due. */
export interface DuePosition {
  readonly due: number;
  readonly row: number;
}

/** What can not be decided on or written as it is, however often that is tried. */
export class Unprocessable extends Error {
  constructor(cause: unknown) {
    super(messageOf(cause), { cause });
    this.name = "Unprocessable";
  }
}

/** Somebody else has written to the session. */
export class StaleVersion extends Error {
  constructor(sessionId: string) {
    super(`The log of ${sessionId} has grown since it was read.`);
    this.name = "StaleVersion";
  }
}
