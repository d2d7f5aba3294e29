import { AgentError, publicMessageOf } from "../errors.ts";
import { resolveAddress, type RemoteAddress } from "../transport/address.ts";
import { RemoteFailure } from "../transport/remote-client.ts";
import type { RemoteTarget } from "../engine/state.ts";
import type { Member } from "./perform.ts";

/** The address of a declared remote, resolved for one request. */
export async function addressOf(member: Member, remote: RemoteTarget): Promise<RemoteAddress> {
  const registered = member.registry().remote(remote.source);
  if (registered === undefined) {
    throw new AgentError("SUBAGENT_UNAVAILABLE", `This build has no subagent in agent/${remote.source}.`, {
      fix: "Restore the file, or let the model start a new task.",
    });
  }
  return resolveAddress(registered, member.env);
}

/** What the model and the stream get to know of a failed request. */
export function toRemoteError(error: unknown): { readonly code: string; readonly message: string } {
  const message = publicMessageOf(error);
  if (error instanceof RemoteFailure) return { code: error.code, message };
  if (AgentError.is(error)) {
    return { code: error.code, message: error.fix === undefined ? message : `${message} ${error.fix}` };
  }
  return { code: "REMOTE_FAILED", message };
}

export function isRetryable(error: unknown): boolean {
  return error instanceof RemoteFailure && error.retryable;
}
