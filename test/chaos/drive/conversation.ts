import { setTimeout as delay } from "node:timers/promises";
import type { Step } from "../../fixtures/chaos/lib/program.ts";
import type { Client, SendOptions } from "./client.ts";
import type { Message } from "../history.ts";
import { planEndless, planFollowUp, planMessage } from "../plan/programs.ts";
import type { Random } from "../random.ts";
import type { Track, Tracks } from "./track.ts";
import type { Watch } from "./watch.ts";

export interface Conversation {
  readonly client: Client;
  readonly tracks: Tracks;
  readonly watch: Watch;
  readonly random: Random;
  /** All members are up for good. */
  readonly isCalm: () => boolean;
}

/** Talks to one session after the other, until it is calm; then says a last word that must be answered, too. */
export async function converse(conversation: Conversation): Promise<void> {
  const { random, isCalm, client, tracks } = conversation;
  for (;;) {
    const opened = await client.open(random.chance(30) ? planFollowUp(random) : planMessage(random), how(random));
    const session = tracks.follow(opened.answers[0]!.sessionId);
    if (random.chance(70)) await untilRead(conversation, session, opened);
    for (let acts = random.between(2, 6); acts > 0 && !isCalm(); acts--) await act(conversation, session);
    if (isCalm()) return ask(conversation, session, planMessage(random));
    if (random.chance(40)) await reset(conversation, session);
  }
}

async function act(conversation: Conversation, session: Track): Promise<void> {
  const { random } = conversation;
  if (random.chance(40)) session.reconnect();
  if (random.chance(30)) await session.readAgain(random);
  const roll = random.between(0, 99);
  if (roll < 30) return ask(conversation, session, planMessage(random));
  if (roll < 50) return ask(conversation, session, planFollowUp(random));
  if (roll < 75) return burst(conversation, session);
  return cancel(conversation, session);
}

/** Says something and waits for the end of the turn. */
async function ask(conversation: Conversation, session: Track, steps: readonly Step[]): Promise<void> {
  const { client, random } = conversation;
  const sent = await client.send(session.sessionId, steps, random.pick(["steer", "queue"]), how(random));
  await untilRead(conversation, session, sent);
}

/** Says several things without waiting for any. */
async function burst(conversation: Conversation, session: Track): Promise<void> {
  const { client, random } = conversation;
  const sent: Message[] = [];
  for (let count = random.between(2, 4); count > 0; count--) {
    const steps = random.chance(50) ? planFollowUp(random) : planMessage(random);
    sent.push(await client.send(session.sessionId, steps, random.pick(["steer", "queue"]), how(random)));
    await delay(random.pick([0, 0, 5, 40]));
  }
  for (const message of sent) await untilRead(conversation, session, message);
}

/** Has something begun that does not end, and stops it; the next message may be there at once. */
async function cancel(conversation: Conversation, session: Track): Promise<void> {
  const { client, random, watch } = conversation;
  const sent = await client.send(session.sessionId, planEndless(random), "queue", how(random));
  const { deliveryId } = sent.answers[0]!;
  const turnId = await watch.patiently(`${sent.run} is read`, () => session.turnOf(deliveryId));
  const type = random.pick(["message.received", "actions.requested", "turn.waiting", "agent.started"]);
  // Not every turn has each of them.
  const until = Date.now() + random.between(0, 300);
  while (!session.has(turnId, type) && Date.now() < until) await delay(5);
  await client.stop("cancel", session.sessionId, turnId);
  if (random.chance(50)) await ask(conversation, session, planFollowUp(random));
  await untilRead(conversation, session, sent);
}

/** Ends the session, in the middle of something or not. */
async function reset({ client, random, watch }: Conversation, session: Track): Promise<void> {
  const { sessionId } = session;
  if (random.chance(60)) {
    await client.send(sessionId, random.chance(50) ? planEndless(random) : planMessage(random), "queue");
    await delay(random.between(0, 200));
  }
  await client.stop("reset", sessionId);
  await watch.patiently(`${sessionId} ends`, () => session.ended() || undefined);
}

/** Waits for the end of the turn that reads a message. */
async function untilRead({ watch }: Conversation, session: Track, { run, answers }: Message): Promise<void> {
  const { deliveryId } = answers[0]!;
  const turnId = await watch.patiently(`${run} is read`, () => session.turnOf(deliveryId));
  await watch.patiently(`${turnId} of ${session.sessionId} ends (${run})`, () => session.endOf(turnId));
}

function how(random: Random): SendOptions {
  if (random.chance(25)) return { cutMs: random.between(0, 6) };
  return random.chance(10) ? { isDouble: true } : {};
}
