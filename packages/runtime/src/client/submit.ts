import { invalidResponse, isTransient } from "./client-error.ts";
import { pause, type ReconnectPolicy } from "./reconnect.ts";
import type { ClientRequest, Requester } from "./requester.ts";
import type { RequestOptions } from "./turn-options.ts";

/** What everything of one client works with. */
export interface ClientContext {
  readonly requester: Requester;
  readonly policy: ReconnectPolicy;
}

/**
 * Sends a request that changes something; sends it again when that changes no more than once, see `operationId`.
 *
 * @param names What the agent must name in its answer, or what comes of the request can not be told.
 */
export async function submit<Name extends string>(
  { requester, policy }: ClientContext,
  request: ClientRequest,
  options: RequestOptions,
  names: readonly Name[],
): Promise<Readonly<Record<Name, string>>> {
  const { operationId } = (request.body ?? {}) as { readonly operationId?: unknown };
  for (let failures = 1; ; failures++) {
    try {
      const answer = await requester.json(request, options);
      if (names.every((name) => typeof answer[name] === "string")) return answer as Record<Name, string>;
      throw invalidResponse(request, answer);
    } catch (error) {
      const refused = (error as { readonly code?: unknown }).code === "session_not_ready";
      const harmless = refused || (operationId !== undefined && isTransient(error));
      if (!harmless || failures > policy.maxReconnectAttempts) throw error;
    }
    await pause(policy, failures, options.signal);
  }
}
