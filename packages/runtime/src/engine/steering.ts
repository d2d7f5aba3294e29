import type { Delivery, SessionState, Turn } from "./state.ts";

/** True while a message waits that the turn under way may read: only its own caller steers (§16). */
export function isSteered({ queue, turn }: SessionState): boolean {
  const [next] = queue;
  return next !== undefined && turn !== undefined && steers(next, turn);
}

function steers({ policy, principal }: Delivery, { principal: caller }: Turn): boolean {
  const own = principal.authenticator === caller.authenticator && principal.principalId === caller.principalId;
  return own && policy === "steer";
}
