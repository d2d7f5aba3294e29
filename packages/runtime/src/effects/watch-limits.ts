import type { Effect } from "../engine/decide.ts";
import type { EffectInput } from "../engine/input.ts";
import type { EffectContext } from "../engine/ports.ts";
import { openRemoteStream } from "../transport/remote-client.ts";
import { delay } from "./delay.ts";
import type { Member } from "./perform.ts";
import { addressOf } from "./remote-request.ts";

type LimitEffect = Extract<Effect, { kind: "limit" }>;

/** A timer takes no more than 2^31 milliseconds. */
const LONGEST_MS = 3_600_000;

/** Waits until a call has had its time: its deadline, or too long without an event of its child (§6.11). */
export async function watchLimits(
  member: Member,
  effect: LimitEffect,
  { signal }: EffectContext,
): Promise<EffectInput | undefined> {
  const { taskId, callId } = effect;
  const { deadline = Infinity, silenceMs = Infinity } = effect.limits;
  const overdue = (code: "TASK_TIMEOUT" | "TASK_SILENT"): EffectInput => ({
    kind: "call.overdue",
    taskId,
    callId,
    code,
  });
  let heardAt = Date.now();
  for (;;) {
    const next = Math.min(deadline, heardAt + silenceMs);
    if (!(await delay(Math.min(Math.max(0, next - Date.now()), LONGEST_MS), signal))) return undefined;
    if (Date.now() >= deadline) return overdue("TASK_TIMEOUT");
    if (Date.now() < heardAt + silenceMs) continue;
    const last = await lastEventAt(member, effect, signal);
    if (signal.aborted) return undefined;
    if (last <= heardAt) return overdue("TASK_SILENT");
    heardAt = last;
  }
}

/** When the child last showed an event, in milliseconds since the epoch; 0: not that anybody here knows. */
async function lastEventAt(
  member: Member,
  { remote, childSessionId }: LimitEffect,
  signal: AbortSignal,
): Promise<number> {
  if (childSessionId === undefined) return 0;
  if (remote === undefined) return (await member.lastEventAt(childSessionId)) ?? 0;
  try {
    const request = { address: await addressOf(member, remote), signal };
    const response = await openRemoteStream(request, childSessionId, "?startIndex=-1&follow=false");
    const lines = (await response.text()).split("\n").filter((line) => line.trim() !== "");
    const last = JSON.parse(lines.at(-1) ?? "{}") as { readonly meta?: { readonly at?: string } };
    return Date.parse(last.meta?.at ?? "") || 0;
  } catch {
    // Who can not be asked is not heard.
    return 0;
  }
}
