import type { MessagePart } from "../protocol/events.ts";
import { toJsonSchema, type OutputSchema } from "./output-schema.ts";

/** A text, or its parts with files between them. */
export type UserContent = string | readonly MessagePart[];

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  /** Headers of this request only. They take the place of the client's. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface AnswerOptions<TOutput = unknown> extends RequestOptions {
  /** Said to the model in this turn only, and not kept. */
  readonly clientContext?: string | readonly string[] | Readonly<Record<string, unknown>>;
  /** A JSON Schema, or a schema that can be written as one (Standard JSON Schema): asks for `result().data`. */
  readonly outputSchema?: OutputSchema<TOutput>;
  /**
   * The same id is the same request, and is done once: with one, a request that got no answer is sent again. When that
   * is left to another process, it needs the session's state from before the request. At most 256 characters.
   */
  readonly operationId?: string;
}

export interface SendOptions<TOutput = unknown> extends AnswerOptions<TOutput> {
  /** A running turn takes the message up before its next step (`steer`, the default), or ends first (`queue`). */
  readonly turnPolicy?: "steer" | "queue";
}

export interface CreateOptions<TOutput = unknown> extends AnswerOptions<TOutput> {
  /** The first message. Without one the session waits for it. */
  readonly message?: UserContent;
}

export interface StreamOptions {
  /** Index of the first event; negative counts from the tail. Default: where this handle is. */
  readonly startIndex?: number;
  /** Go on with what comes until the session ends; `false` stops at the last event there is. Default `true`. */
  readonly follow?: boolean;
  readonly signal?: AbortSignal;
}

/** The fields of a request that its options stand for. What is `undefined` is not sent. */
export function toBody({ signal: _s, headers: _h, outputSchema, ...fields }: SendOptions): object {
  return { ...fields, outputSchema: outputSchema && toJsonSchema(outputSchema) };
}
