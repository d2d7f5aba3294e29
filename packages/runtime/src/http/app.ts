import { Hono } from "hono";
import { routePath } from "hono/route";
import type { Authenticator } from "../channels/auth.ts";
import type { Host } from "../engine/ports.ts";
import { AgentError, messageOf } from "../errors.ts";
import type { ModelFacts } from "../models/resolve-model.ts";
import type { Registry } from "../registry/registry.ts";
import type { CallbackTokens } from "../transport/callback-token.ts";
import { checkCallbackUrl } from "../transport/callback-url.ts";
import { toAgentInfo } from "./agent-info.ts";
import { authenticate, type Variables } from "./authenticate.ts";
import { receiveCallback } from "./callback-route.ts";
import { toInternalProblem, toProblem } from "./problem.ts";
import type { OperatorTokens } from "./operator-token.ts";
import { createSessionRoutes } from "./session/routes.ts";
import { relaySubagentStream } from "./subagent-stream-route.ts";

export interface AppOptions {
  readonly host: Host;
  readonly registry: Registry;
  readonly auth: readonly Authenticator[];
  readonly tokens: CallbackTokens;
  readonly operator: OperatorTokens;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly modelFacts: (nodeId: string) => ModelFacts;
  /** Whether sessions outlive the process. `health` and `info` say when they do not. */
  readonly durable: boolean;
  readonly mode: "development" | "production";
  /** Origin under which others reach this member. */
  readonly origin: () => string;
  readonly log: (line: string) => void;
  /** Milliseconds that a followed stream is leased for to clients that ask for it; default 60,000. */
  readonly leaseMs?: number;
}

/**
 * The HTTP API of a member (PROTOCOL, Routes), at `/eve/<member>/v1` and, for clients of a single agent, `/eve/v1`.
 *
 * @example
 * const response = await createApp(options).request("/eve/research/v1/health");
 */
export function createApp(options: AppOptions): Hono {
  const { registry } = options;
  const app = new Hono();
  const api = createApi(options);
  app.route(`/eve/${registry.manifest.member}/v1`, api);
  app.route("/eve/v1", api);
  app.notFound((c) =>
    toProblem(c, new AgentError("NOT_FOUND", "There is no such route.", { fix: "See docs/http.md for the routes." })),
  );
  app.onError((error, c) => {
    if (AgentError.is(error)) return toProblem(c, error);
    // Who has gone hears no answer, and that they went is no fault.
    if (c.req.raw.signal.aborted) return toInternalProblem(c);
    // The pattern, not the path: that of a callback holds its token.
    options.log(`${c.req.method} ${routePath(c)} failed: ${messageOf(error)}`);
    return toInternalProblem(c);
  });
  return app;
}

function createApi(options: AppOptions): Hono<{ Variables: Variables }> {
  const { host, registry, auth } = options;
  const api = new Hono<{ Variables: Variables }>();
  const { buildId, member } = registry.manifest;
  const health = { ok: true, status: "ready", workflowId: `${member}@${buildId}` };
  api.get("/health", (c) => c.json(options.durable ? health : { ...health, durable: false }));
  api.post("/callback/:token", (c) => receiveCallback(c, options));
  const checkCallback = (url: string): void => {
    if (options.mode === "production") checkCallbackUrl(url, { env: options.env, own: options.origin() });
  };
  api.use("*", authenticate(auth, member, options.operator));
  api.get("/info", (c) => c.json(toAgentInfo(registry.manifest, options)));
  const agentName = registry.root.manifest.name;
  api.route("/session", createSessionRoutes({ host, agentName, checkCallback, leaseMs: options.leaseMs }));
  api.get("/session/:id/subagents/:callId/:childId/stream", (c) => relaySubagentStream(c, options));
  return api;
}
