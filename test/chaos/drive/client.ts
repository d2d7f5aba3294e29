import type { Step } from "../../fixtures/chaos/lib/program.ts";
import { toMessage } from "../../fixtures/chaos/lib/program.ts";
import type { Message, Stop } from "../history.ts";
import type { Watch } from "./watch.ts";

const REQUEST_TIMEOUT_MS = 10_000;

export interface SendOptions {
  /** Gives the first attempt up after this long, whether it was answered or not. */
  readonly cutMs?: number;
  /** Makes the request twice at the same time. */
  readonly isDouble?: boolean;
}

/** A client that knows only the protocol, and repeats what was not answered under the same operation id. */
export interface Client {
  open(steps: readonly Step[], options?: SendOptions): Promise<Message>;
  send(sessionId: string, steps: readonly Step[], policy: "steer" | "queue", options?: SendOptions): Promise<Message>;
  stop(kind: Stop["kind"], sessionId: string, turnId?: string): Promise<Stop>;
}

/** @param api `<origin>/eve/<name>/v1` */
export function createClient(api: string, watch: Watch): Client {
  const deliver = async (
    url: string,
    steps: readonly Step[],
    policy: Message["policy"],
    { cutMs, isDouble = false }: SendOptions = {},
  ): Promise<Message> => {
    const run = `m${watch.messages.length}`;
    const text = toMessage({ id: run, steps });
    const message: Message = { run, text, policy, sentAt: Date.now(), attempts: 0, answers: [] };
    watch.messages.push(message);
    const body = { message: text, operationId: `op-${run}`, ...(policy === "create" ? {} : { turnPolicy: policy }) };
    const attempt = async (timeoutMs?: number): Promise<true | undefined> => {
      message.attempts++;
      watch.see("sent");
      const answer = await post(url, body, timeoutMs);
      if (answer === undefined) return undefined;
      if (answer.status !== 202) {
        message.refusal = `${answer.status} ${JSON.stringify(answer.body)}`;
        return true;
      }
      const { sessionId, deliveryId } = answer.body;
      message.answers.push({ sessionId: String(sessionId), deliveryId: String(deliveryId), at: Date.now() });
      watch.see("accepted");
      return true;
    };
    if (cutMs !== undefined) await attempt(cutMs);
    const repeat = (): Promise<true> => watch.patiently(`${run} is accepted`, () => attempt());
    await Promise.all(isDouble ? [repeat(), repeat()] : [repeat()]);
    if (message.refusal !== undefined) throw new Error(`${run} (${policy}) was refused: ${message.refusal}`);
    watch.note(`${run} (${policy}): ${message.answers[0]!.sessionId}, ${message.attempts} attempts`);
    return message;
  };

  return {
    open: (steps, options) => deliver(`${api}/session`, steps, "create", options),
    send: (sessionId, steps, policy, options) => deliver(`${api}/session/${sessionId}`, steps, policy, options),
    stop: async (kind, sessionId, turnId) => {
      const target = turnId === undefined ? {} : { turnId };
      const stop: Stop = { kind, sessionId, ...target, askedAt: Date.now() };
      watch.stops.push(stop);
      const url = `${api}/session/${sessionId}/${kind}`;
      const { status, body } = await watch.patiently(`${kind} of ${sessionId}`, () => post(url, target));
      stop.status = String(body.status ?? status);
      stop.answeredAt = Date.now();
      if (stop.status === "accepted") watch.see("cancelled");
      watch.note(`${kind} ${sessionId} ${turnId ?? ""}: ${stop.status}`);
      return stop;
    },
  };
}

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The answer, or nothing when there was none that is final. */
async function post(url: string, body: unknown, timeoutMs = REQUEST_TIMEOUT_MS): Promise<Answer | undefined> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (response.status >= 500) return undefined;
    return { status: response.status, body: (await response.json()) as Answer["body"] };
  } catch {
    return undefined;
  }
}
