import type { LanguageModelUsage, ProviderMetadata } from "ai";
import type { ContentPart } from "../engine/state.ts";
import { delay } from "./delay.ts";

/** A call as the model made it; `invalid` when its input does not fit the schema, or is no JSON. */
export interface CallPart {
  readonly type: "tool-call";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
  readonly invalid?: boolean | undefined;
  readonly error?: unknown;
  readonly providerMetadata?: ProviderMetadata | undefined;
}

export interface ResponseEnd {
  readonly type: "model-call-end";
  readonly finishReason: string;
  readonly rawFinishReason?: string | undefined;
  readonly usage: LanguageModelUsage;
  readonly providerMetadata?: ProviderMetadata | undefined;
}

/** The parts of the AI SDK's stream that are read here. */
type StreamPart =
  | {
      readonly type: "text-start" | "text-delta" | "text-end" | "reasoning-start" | "reasoning-delta" | "reasoning-end";
      readonly id: string;
      readonly text?: string;
      readonly providerMetadata?: ProviderMetadata | undefined;
    }
  | { readonly type: "custom"; readonly kind: string; readonly providerMetadata?: ProviderMetadata | undefined }
  | CallPart
  | ResponseEnd
  | { readonly type: "error"; readonly error: unknown };

/** What a provider's stream came to. */
export interface Reading {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly CallPart[];
  /** Absent when the text and the calls are all there is to give back. */
  readonly content?: readonly ContentPart[];
  /** Absent when the stream was cut. */
  readonly end?: ResponseEnd;
  /** The first error of the stream. */
  readonly failure?: { readonly error: unknown };
}

/** How long a provider is heard once it has sent an error: it may still say what the call cost. */
const LAST_WORD_MS = 1_000;

type Parts = AsyncIterator<{ readonly type: string }>;

/** Reads a response to its end or its first error. Does not throw: a stream that breaks is a reading with a failure. */
export async function readResponse(
  stream: AsyncIterable<{ readonly type: string }>,
  on: {
    text(delta: string): void;
    reasoning(delta: string): void;
    /** The provider said something. */
    part(): void;
  },
): Promise<Reading> {
  const parts: Parts = stream[Symbol.asyncIterator]();
  const content: Piece[] = [];
  const open = new Map<string, SpokenPiece>();
  const calls: CallPart[] = [];
  let end: ResponseEnd | undefined;
  let failure: Reading["failure"];
  try {
    while (failure === undefined) {
      const { done, value } = await parts.next();
      if (done) break;
      // The AI SDK says this one by itself.
      if (value.type !== "model-call-start") on.part();
      const part = value as StreamPart;
      switch (part.type) {
        case "text-start":
        case "text-delta":
        case "text-end":
        case "reasoning-start":
        case "reasoning-delta":
        case "reasoning-end": {
          const type = part.type.startsWith("text") ? "text" : "reasoning";
          const key = `${type}:${part.id}`;
          let piece = open.get(key);
          if (piece === undefined) {
            open.set(key, (piece = { type, text: "" }));
            content.push(piece);
          }
          if (part.providerMetadata !== undefined) piece.providerMetadata = part.providerMetadata;
          if (part.type.endsWith("end")) open.delete(key);
          if (part.text === undefined || part.text === "") break;
          piece.text += part.text;
          on[type](part.text);
          break;
        }
        case "tool-call":
          calls.push(part);
          content.push({ type: "call", providerMetadata: part.providerMetadata });
          break;
        case "custom":
          content.push({ type: "custom", kind: part.kind, providerMetadata: part.providerMetadata });
          break;
        case "model-call-end":
          end = part;
          break;
        case "error":
          failure = { error: part.error };
          end = await lastWord(parts);
      }
    }
  } catch (error) {
    failure = { error };
  }
  return toReading(content, calls, end, failure);
}

async function lastWord(parts: Parts): Promise<ResponseEnd | undefined> {
  const read = async (): Promise<ResponseEnd | undefined> => {
    for (;;) {
      const { done, value } = await parts.next();
      if (done) return undefined;
      if (value.type === "model-call-end") return value as ResponseEnd;
    }
  };
  const stop = new AbortController();
  const late = delay(LAST_WORD_MS, stop.signal).then(() => undefined);
  const end = await Promise.race([read().catch(() => undefined), late]);
  stop.abort();
  parts.return?.().catch(() => {});
  return end;
}

interface SpokenPiece {
  readonly type: "text" | "reasoning";
  text: string;
  providerMetadata?: ProviderMetadata | undefined;
}

type Piece =
  | SpokenPiece
  | { readonly type: "call"; readonly providerMetadata: ProviderMetadata | undefined }
  | { readonly type: "custom"; readonly kind: string; readonly providerMetadata: ProviderMetadata | undefined };

function toReading(
  content: readonly Piece[],
  calls: readonly CallPart[],
  end: ResponseEnd | undefined,
  failure: Reading["failure"],
): Reading {
  const given = content.filter((piece) => !("text" in piece) || piece.text !== "" || piece.providerMetadata);
  const textOf = (type: SpokenPiece["type"]): string =>
    given.map((piece) => (piece.type === type ? piece.text : "")).join("");
  return {
    text: textOf("text"),
    reasoning: textOf("reasoning"),
    calls,
    ...(isPlain(given) ? {} : { content: given.map(toContentPart) }),
    ...(end && { end }),
    ...(failure && { failure }),
  };
}

/** Texts, then calls, and no word of the provider's own. */
function isPlain(content: readonly Piece[]): boolean {
  return content.every(
    ({ type, providerMetadata }, index) =>
      providerMetadata === undefined && (type === "call" || (type === "text" && content[index - 1]?.type !== "call")),
  );
}

function toContentPart(piece: Piece): ContentPart {
  const metadata = piece.providerMetadata === undefined ? {} : { providerMetadata: piece.providerMetadata as never };
  switch (piece.type) {
    case "text":
      return { type: "text", length: piece.text.length, ...metadata };
    case "reasoning":
      return { type: "reasoning", text: piece.text, ...metadata };
    case "call":
      return { type: "call", ...metadata };
    case "custom":
      return { type: "custom", kind: piece.kind, ...metadata };
  }
}
