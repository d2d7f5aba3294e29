import * as z from "zod";
import { principalSchema } from "./principal.ts";

/** Bodies of the HTTP API (PROTOCOL, Routes and Remote calls). */
export const REMOTE_PROTOCOL_VERSION = 2;

/** What providers take: with or without padding, in either alphabet. */
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

const part = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z
    .object({
      type: z.literal("file"),
      mediaType: z.string().min(1),
      data: z.string().regex(BASE64, "must be base64").optional(),
      url: z.url({ protocol: /^(https?|data)$/, error: "must be a URL with http, https or data" }).optional(),
      filename: z.string().optional(),
    })
    .refine((file) => (file.data === undefined) !== (file.url === undefined), {
      message: "a file part has either `data` or `url`",
    }),
]);

/** Providers refuse what says nothing, and again at every later turn, whose history has it. */
const NOT_BLANK = /\S/;
const saysSomething = (given: z.infer<typeof part>): boolean => given.type === "file" || NOT_BLANK.test(given.text);

export const messageSchema = z.union([
  z.string().regex(NOT_BLANK, "must not be empty"),
  z.array(part).refine((parts) => parts.some(saysSomething), "must not be empty"),
]);

export const callbackSchema = z.object({
  callId: z.string().min(1).max(256),
  subagentName: z.string().min(1).max(64),
  token: z.string().min(16).max(1024),
  url: z.url({ protocol: /^https?$/ }),
});

/** What goes with a message: facts about the sender's situation, and the shape that the reply must have. */
const turnOptions = {
  clientContext: z.union([z.string().min(1), z.array(z.string().min(1)), z.record(z.string(), z.unknown())]).optional(),
  outputSchema: z.record(z.string(), z.unknown()).optional(),
};

/** Requests of clients are strict: what a member does not know it would silently not do. */
export const createSessionSchema = z.strictObject({
  message: messageSchema.optional(),
  ...turnOptions,
  operationId: z.string().min(1).max(256).optional(),
  callback: callbackSchema.optional(),
  capabilities: z.object({ requestInput: z.boolean().optional() }).optional(),
  protocolVersion: z.number().int().optional(),
  forwardedPrincipal: z.object({ current: principalSchema, initiator: principalSchema }).optional(),
});

export const sendSchema = z.strictObject({
  message: messageSchema,
  turnPolicy: z.enum(["steer", "queue"]).optional(),
  ...turnOptions,
  operationId: z.string().min(1).max(256).optional(),
  /** Beyond the protocol: where the reply of a follow-up to a delegated session goes. */
  callback: callbackSchema.optional(),
});

export const cancelSchema = z.strictObject({ turnId: z.string().min(1).optional() });
export const retrySchema = z.strictObject({ turnId: z.string().min(1).optional() });
export const forkSchema = z.strictObject({
  /** Index of the last event that the fork takes over; the last one there is, when it is left out. */
  at: z.number().int().nonnegative().optional(),
  operationId: z.string().min(1).max(256).optional(),
});
/** Requests that say all with their path. */
export const emptySchema = z.strictObject({});
export const resetSchema = z.strictObject({ reason: z.string().max(512).optional() });

export const turnOutcomeSchema = z.object({
  kind: z.literal(["turn.completed", "turn.failed"]),
  callId: z.string(),
  sessionId: z.string().min(1).max(256),
  subagentName: z.string(),
  output: z.unknown().optional(),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
  outcome: z.object({
    kind: z.enum(["parked", "terminal"]),
    result: z.object({
      kind: z.enum(["succeeded", "failed", "cancelled"]),
      output: z.unknown().optional(),
    }),
    usageDelta: z.record(z.string(), z.unknown()).optional(),
  }),
});

/** What a receiver answers a create with. */
export const acceptedSchema = z.object({
  ok: z.literal(true).optional(),
  sessionId: z.string().min(1).max(256),
  status: z.literal("accepted").optional(),
  deliveryId: z.string().optional(),
  protocolVersion: z.number().int().optional(),
});

export type Callback = z.infer<typeof callbackSchema>;
export type TurnOutcome = z.infer<typeof turnOutcomeSchema>;
export type CreateSession = z.infer<typeof createSessionSchema>;
export type SendMessage = z.infer<typeof sendSchema>;
