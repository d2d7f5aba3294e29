/** The client of an agent: `import { Client } from "eve/client"`. */
export { Client, type ClientOptions, type HealthResult } from "./client.ts";
export { ClientError } from "./client-error.ts";
export type { ClientAuth, HeadersValue, TokenValue } from "./credentials.ts";
export type { ClientAgentSession } from "./agent-session.ts";
export {
  isCurrentTurnBoundaryEvent,
  type EventOf,
  type InputRequest,
  type InputResponse,
  type MessageStreamEvent,
} from "./events.ts";
export type { CancelResult, MessageResponse } from "./message-response.ts";
export type { ReconnectPolicy } from "./reconnect.ts";
export type { ClientSession, ClientSessionState, ControlResult, ResetResult, SessionSnapshot } from "./session.ts";
export type { ClientSessions, SessionPage, SessionSummary } from "./sessions.ts";
export type { MessageResult } from "./turn.ts";
export type {
  AnswerOptions,
  CreateOptions,
  RequestOptions,
  SendOptions,
  StreamOptions,
  UserContent,
} from "./turn-options.ts";
export type { AgentInfo } from "../protocol/agent-info.ts";
