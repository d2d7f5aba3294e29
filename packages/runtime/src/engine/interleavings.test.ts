import fc from "fast-check";
import { expect, test } from "vitest";
import type { Effect } from "./decide.ts";
import type { EffectInput, MailInput, ResolvedCall } from "./input.ts";
import { createCoverage } from "./coverage.fixture.ts";
import { createInvariants } from "./invariants.fixture.ts";
import type { Delivery, ReplyTo, SessionState } from "./state.ts";
import { wrapDelegation } from "./text.ts";
import { CALLERS, createWorld, fold, type SimSession, type World } from "./world.fixture.ts";

/** `EVE_SEEDS=50000` runs many more, `EVE_SEED=<n>` others. The same ones by default, so that coverage is no luck. */
const RUNS = Number(process.env.EVE_SEEDS ?? 1_000);
const SEED = Number(process.env.EVE_SEED ?? 20_261_130);
const USAGE = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
const MAX_ROUNDS = 3_000;

const coverage = createCoverage();

test(`any interleaving of ${RUNS} worlds keeps every promise`, { timeout: 0 }, () => {
  const numbers = fc.array(fc.nat(0xffff), { minLength: 40, maxLength: 200, size: "max" });
  fc.assert(fc.property(numbers, play), {
    numRuns: RUNS,
    seed: SEED,
    // A world that never rests shrinks slowly; what is found by then is reported.
    interruptAfterTimeLimit: 60 * Math.max(RUNS, 1_000),
    markInterruptAsFailure: true,
  });
  if (process.env.EVE_SEEDS) console.log(JSON.stringify(coverage));
  for (const [state, times] of Object.entries(coverage)) expect(times, `no run reached: ${state}`).toBeGreaterThan(0);
});

/** Plays one world: every choice takes a number; when they are used up, everything goes well until all is done. */
function play(numbers: readonly number[]): void {
  const invariants = createInvariants(coverage);
  const world = createWorld(invariants);
  let used = 0;
  let replies = 0;
  let sent = 0;
  const calm = (): boolean => used >= numbers.length;
  const pick = (choices: number): number => (calm() ? 0 : numbers[used++]! % choices);
  const chance = (percent: number): boolean => !calm() && pick(100) < percent;
  const oneOf = <T>(items: readonly T[]): T => items[pick(items.length)]!;
  const all = (): SimSession[] => [...world.sessions.values()];

  const person = (): Delivery => ({
    deliveryId: `person-${++sent}`,
    parts: [{ type: "text", text: `message ${sent}` }],
    principal: chance(70) ? CALLERS[0]! : CALLERS[1]!,
    policy: chance(60) ? "steer" : "queue",
    ...(chance(15) ? { outputSchema: { type: "object" } } : {}),
    ...(chance(15) ? { context: [`situation ${sent}`] } : {}),
  });

  const respond = (state: SessionState): EffectInput => {
    const base = { kind: "model.responded", reasoning: "", finishReason: "stop", usage: USAGE } as const;
    const output = (good: boolean) =>
      state.turn!.outputSchema === undefined
        ? {}
        : {
            output: good
              ? { valid: true as const, value: `reply ${replies}` }
              : { valid: false as const, problem: "no" },
          };
    if (calm()) return { ...base, text: `reply ${++replies}`, calls: [], ...output(true) };
    const roll = pick(100);
    if (roll < 10) return { kind: "model.failed", code: "MODEL_FAILED", message: "x", retryable: roll < 8 };
    if (roll < 17) return { ...base, text: "", calls: [] };
    if (roll < 45) return { ...base, text: `reply ${++replies}`, calls: [], ...output(chance(60)) };
    const calls = Array.from({ length: 1 + pick(3) }, (_, n) => call(state, n));
    return { ...base, text: chance(30) ? "working on it" : "", calls };
  };

  const call = (state: SessionState, n: number): ResolvedCall => {
    const callId = `call_${n}`;
    const remoteAllowed = state.sessionId.startsWith("here");
    if (chance(16)) return taskCall(state, callId);
    const kind = pick(remoteAllowed ? 8 : 5);
    if (kind === 0)
      return { callId, name: "add", input: {}, target: { kind: "tool", onInterrupt: chance(50) ? "retry" : "fail" } };
    const name = kind < 5 ? (kind % 2 === 0 ? "worker" : "writer") : "peer";
    const mine = Object.values(state.tasks)
      .filter((task) => task.tool === name)
      .map(({ taskId }) => taskId);
    const taskId = chance(65) && mine.length > 0 ? oneOf(mine) : oneOf([undefined, undefined, "", "worker-zzzzzz"]);
    const input = { message: `ask ${++sent}`, ...(taskId === undefined ? {} : { taskId }) };
    if (name === "peer")
      return { callId, name, input, target: { kind: "remote", remote: { name, source: "peer.ts" }, description: "" } };
    return { callId, name, input, target: { kind: "local", nodeId: name, description: "" } };
  };

  /** What a model may do with its tasks beside calling agents. */
  const taskCall = (state: SessionState, callId: string): ResolvedCall => {
    if (chance(60)) {
      const timeout = chance(50) ? { timeoutMs: 10 } : {};
      return { callId, name: "eve__task_wait", input: {}, target: { kind: "wait", ...timeout } };
    }
    const tasks = Object.values(state.tasks);
    const working = tasks.filter(({ status }) => status === "working");
    const known = chance(70) && working.length > 0 ? working : tasks;
    const taskId = chance(90) && known.length > 0 ? oneOf(known).taskId : "worker-zzzzzz";
    return { callId, name: "eve__task_cancel", input: { taskId }, target: { kind: "stop", taskId } };
  };

  const runEffect = (session: SimSession, effect: Effect): void => {
    switch (effect.kind) {
      case "model":
        if (!session.state!.turn!.spoke && chance(25)) return world.began(session);
        return world.settle(session, effect.id, respond(session.state!));
      case "tool":
        return world.settle(session, effect.id, {
          kind: "tool.settled",
          callId: effect.call.callId,
          status: chance(20) ? "failed" : "completed",
          output: { n: 1 },
        });
      case "compact":
        return world.settle(
          session,
          effect.id,
          chance(30)
            ? { kind: "compaction.failed", message: "x" }
            : { kind: "compaction.finished", summary: "short", usage: USAGE },
        );
      case "send":
        return sendToRemote(session, effect);
      case "watch":
        return watch(session, effect);
      case "outgoing":
        return outgoing(session, effect);
      case "limit":
        // Mostly the call is answered in time.
        if (!chance(session.state!.tasks[effect.taskId]!.waiting.some(({ read }) => read) ? 40 : 6)) return;
        return world.settle(session, effect.id, {
          kind: "call.overdue",
          taskId: effect.taskId,
          callId: effect.callId,
          code: chance(50) ? "TASK_TIMEOUT" : "TASK_SILENT",
        });
    }
  };

  const sendToRemote = (
    session: SimSession,
    { id, taskId, call: { callId, message }, childSessionId }: Extract<Effect, { kind: "send" | "watch" }>,
  ): void => {
    const failed = { kind: "remote.failed", taskId, callId, code: "REMOTE_FAILED", message: "x" } as const;
    if (chance(10)) return world.settle(session, id, failed);
    const target = childSessionId === undefined ? undefined : world.sessions.get(childSessionId)!;
    if (target?.state?.ended) return world.settle(session, id, failed);
    const operation = `${session.id}:${callId}`;
    const replyTo: ReplyTo = { kind: "callback", callId, subagentName: "peer", url: session.id, token: callId };
    const delivery: Delivery = {
      deliveryId: operation,
      parts: [{ type: "text", text: wrapDelegation(message) }],
      principal: CALLERS[0]!,
      policy: "steer",
      replyTo,
    };
    let remoteSessionId = childSessionId;
    if (remoteSessionId === undefined) {
      const open: MailInput = {
        kind: "open",
        nodeId: "root",
        agentName: "peer",
        origin: { kind: "remote" },
        initiator: CALLERS[0]!,
        first: delivery,
      };
      remoteSessionId = world.open("there", session.id, operation, open);
    } else {
      world.accept(remoteSessionId, session.id, operation, { kind: "deliver", delivery });
    }
    // The answer is lost: the effect goes on and repeats the request.
    if (chance(25)) return;
    world.settle(session, id, {
      kind: "remote.accepted",
      taskId,
      callId,
      remoteSessionId,
      deliveryId: operation,
      url: "there",
    });
  };

  const watch = (
    session: SimSession,
    { id, taskId, call, childSessionId }: Extract<Effect, { kind: "send" | "watch" }>,
  ): void => {
    const remote = world.sessions.get(childSessionId!)!;
    const outcome = outcomeOf(remote, call.deliveryId!);
    if (outcome !== undefined) world.settle(session, id, { kind: "child.settled", callIds: [call.callId], ...outcome });
    else if (chance(3))
      world.settle(session, id, { kind: "remote.failed", taskId, callId: call.callId, code: "GONE", message: "x" });
  };

  const outgoing = (session: SimSession, { id, outgoing: request }: Extract<Effect, { kind: "outgoing" }>): void => {
    const done: EffectInput = { kind: "outgoing.done", id: request.id };
    if (request.kind !== "callback") {
      // Best effort: some never arrive.
      if (!chance(10))
        world.accept(request.remoteSessionId, session.id, `${request.id}#${++sent}`, { kind: request.kind });
    } else if (!chance(15)) {
      const body = request.body as { sessionId: string; outcome: { result: { kind: string; output?: string } } };
      const { kind, output } = body.outcome.result;
      const settled = {
        kind: "child.settled",
        callIds: [request.token],
        remote: { sessionId: body.sessionId, url: "there" },
      } as const;
      const input: MailInput =
        kind === "succeeded"
          ? { ...settled, status: "completed", output }
          : {
              ...settled,
              status: kind === "failed" ? "failed" : "cancelled",
              ...(kind === "failed" ? { error: { code: "X", message: "x" } } : {}),
            };
      // As the callback route does: nobody waits for it, nobody gets it.
      const waits = Object.values(world.sessions.get(request.url)!.state!.tasks).some((task) =>
        task.waiting.some((waiting) => waiting.callId === request.token && !waiting.abandoned),
      );
      if (waits) world.accept(request.url, session.id, `callback:${request.token}`, input);
    }
    if (chance(15)) return;
    world.settle(session, id, done);
  };

  const fork = ({ sessionId, history }: SessionState): void => {
    if (all().length > 8) return;
    world.open("here", "person", `fork-${++sent}`, {
      kind: "open",
      nodeId: "root",
      agentName: "root",
      origin: { kind: "root" },
      initiator: CALLERS[0]!,
      first: person(),
      fork: { sessionId, index: 0, history: JSON.parse(JSON.stringify(history)) },
    });
  };

  const interfere = (): void => {
    const roll = pick(100);
    const root = chance(70) ? all()[0]! : oneOf(all());
    const { failed, turn } = root.state ?? {};
    if (turn !== undefined && turn.waits.length > 0 && chance(15)) return world.pass(root, 10);
    if (failed !== undefined && chance(40)) {
      const { turnId } = failed;
      const retry: MailInput = { kind: "retry", turnId, principal: oneOf(CALLERS) };
      world.accept(root.id, "person", `p${++sent}`, chance(40) ? { kind: "compact" } : retry);
    } else if (roll < 40) world.accept(root.id, "person", `p${++sent}`, { kind: "deliver", delivery: person() });
    else if (roll < 62)
      world.accept(root.id, "person", `p${++sent}`, {
        kind: "cancel",
        ...(chance(30) ? { turnId: `turn_${pick(3)}` } : {}),
      });
    else if (roll < 64) world.accept(root.id, "person", `p${++sent}`, { kind: "reset" });
    else if (roll < 76) {
      const children = all().filter(({ state }) => state?.origin.kind === "local" && state.turn === undefined);
      if (children.length > 0) world.accept(oneOf(children).id, "person", `p${++sent}`, { kind: "reset" });
    } else if (roll < 79) world.accept(root.id, "person", `p${++sent}`, { kind: chance(60) ? "compact" : "clear" });
    else if (roll < 84 && root.state !== undefined) fork(root.state);
    else if (roll < 85 && root.state !== undefined) world.pass(root, chance(50) ? 10 : 1_000);
    else if (roll < 91) world.crash(oneOf(["here", "there"]));
    else expect(fold(root.log)).toEqual(root.state);
  };

  world.open("here", "person", "start", {
    kind: "open",
    nodeId: "root",
    agentName: "root",
    origin: { kind: "root" },
    initiator: CALLERS[0]!,
    first: person(),
  });
  for (let round = 0; ; round++) {
    if (round > MAX_ROUNDS) throw new Error(`Not at rest after ${MAX_ROUNDS} rounds: ${describe(world)}`);
    if (chance(14)) interfere();
    const actions = all().flatMap((session) => [
      ...[...session.mail.keys()].map((sender) => () => world.process(session, sender)),
      ...[...session.running.values()].map((effect) => () => runEffect(session, effect)),
    ]);
    if (actions.length === 0 && calm()) break;
    if (actions.length > 0) actions[calm() ? round % actions.length : pick(actions.length)]!();
  }
  invariants.atRest(world);
}

/** What the remote's stream says of the turn that read a delivery. */
function outcomeOf(
  { log }: SimSession,
  deliveryId: string,
): { status: "completed" | "failed" | "cancelled"; output?: string } | undefined {
  let turnId: string | undefined;
  let reply = "";
  for (const line of log) {
    const { type, data, inner } = JSON.parse(line);
    if (type === "message.received" && inner.deliveryIds.includes(deliveryId)) turnId = data.turnId;
    if (type === "delivery.dropped" && data.deliveryId === deliveryId) return { status: "cancelled" };
    if (type === "session.completed") return { status: "cancelled" };
    if (data.turnId !== turnId || turnId === undefined) continue;
    if (type === "message.completed") reply = data.message;
    if (type === "turn.completed") return { status: "completed", output: reply };
    if (type === "turn.failed") return { status: "failed" };
    if (type === "turn.cancelled") return { status: "cancelled" };
  }
  return undefined;
}

function describe(world: World): string {
  return [...world.sessions.values()]
    .map(
      ({ id, state, mail, running }) =>
        `${id}: ${state?.turn?.phase ?? "idle"}, mail ${mail.size}, ${[...running.keys()].join(" ")}`,
    )
    .join("; ");
}
