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
/** A remote that does not say within this time what came last is not heard. */
const ASK_MS = 10_000;

/** The child's last event: what tells it from others, and when it came by the clock of this process. */
interface Sign {
  readonly mark: string | undefined;
  readonly at: number;
}

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
  let heard: Sign = { mark: undefined, at: Date.now() };
  for (;;) {
    const next = Math.min(deadline, heard.at + silenceMs);
    if (!(await delay(Math.min(Math.max(0, next - Date.now()), LONGEST_MS), signal))) return undefined;
    if (Date.now() >= deadline) return overdue("TASK_TIMEOUT");
    if (Date.now() < heard.at + silenceMs) continue;
    const last = await lastSign(member, effect, signal, Math.min(ASK_MS, deadline - Date.now()));
    if (signal.aborted) return undefined;
    if (last === undefined || last.mark === heard.mark || last.at <= heard.at) return overdue("TASK_SILENT");
    heard = last;
  }
}

async function lastSign(
  member: Member,
  { remote, childSessionId }: LimitEffect,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<Sign | undefined> {
  if (childSessionId === undefined) return undefined;
  if (remote === undefined) {
    const at = await member.lastEventAt(childSessionId);
    return at === undefined ? undefined : { mark: String(at), at };
  }
  try {
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(Math.max(0, timeoutMs))]);
    const request = { address: await addressOf(member, remote), signal: inTime };
    const response = await openRemoteStream(request, childSessionId, "?startIndex=-1&follow=false");
    if (!response.ok) return undefined;
    const line = (await response.text()).split("\n").findLast((text) => text.trim() !== "");
    if (line === undefined) return undefined;
    const { meta } = JSON.parse(line) as { readonly meta?: { readonly id?: string } };
    // Its clock is not this one: an event that was not there the last time counts as one of now.
    return { mark: meta?.id ?? line, at: Date.now() };
  } catch {
    // Who can not be asked is not heard.
    return undefined;
  }
}
