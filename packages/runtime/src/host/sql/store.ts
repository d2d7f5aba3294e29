import type { Entry } from "../../engine/entry.ts";
import type { MailInput, Post } from "../../engine/input.ts";
import type { DeliveryOutcome, OpenOutcome, SessionHead, StoredEvent } from "../../engine/ports.ts";
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
  readonly entries: readonly StoredEntry[];
  /** Position of the message that the entries come from. */
  readonly taken?: number;
  readonly posts: readonly Post[];
  /** The session has effects to run, so a restart must take it up. */
  readonly active: boolean;
  readonly ended: boolean;
}

export interface StoredEntry {
  readonly entry: Entry;
  /** Events only. */
  readonly id?: string;
  readonly at: number;
}

export interface SessionLog {
  readonly version: number;
  readonly entries: readonly Entry[];
}

/**
 * The tables of `host/sql`, one implementation per dialect. Every method is one transaction.
 *
 * `commit` throws {@link StaleVersion} when the log has grown since `version`, {@link Unprocessable} for what is no
 * JSON.
 */
export interface Store {
  /** Creates a session with its first message, or finds the one that `operationKey` created. */
  create(request: {
    readonly sessionId: string;
    readonly nodeId: string;
    readonly owner: Principal;
    readonly operationKey?: string;
    readonly digest?: string;
    readonly input: MailInput;
  }): Awaitable<OpenOutcome>;
  accept(sessionId: string, id: string, input: MailInput, digest?: string): Awaitable<DeliveryOutcome>;
  /** A message of this id was accepted, whether or not it was processed since. */
  knows(sessionId: string, id: string): Awaitable<boolean>;
  commit(commit: Commit): Awaitable<void>;
  /** The log without deltas, to fold. */
  load(sessionId: string): Awaitable<SessionLog | undefined>;
  mail(sessionId: string): Awaitable<readonly Mail[]>;
  head(sessionId: string): Awaitable<SessionHead | undefined>;
  events(sessionId: string, from: number, limit: number, maxLength?: number): Awaitable<readonly StoredEvent[]>;
  /** Sessions with effects to run or messages to process. */
  active(): Awaitable<readonly string[]>;
  /** Secret of this store, made once: callback tokens are derived from it. */
  secret(): Awaitable<string>;
  close(): Awaitable<void>;
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
