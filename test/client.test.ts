import { Client, type MessageStreamEvent } from "eve/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { StreamEvent } from "../packages/runtime/src/protocol/events.ts";
import { buildWorkspace } from "./support/build-workspace.ts";
import { checkStream } from "./support/check-stream.ts";
import { createMember, type Member } from "./support/member.ts";
import { startMembers } from "./support/start-workspace.ts";

const cleanup = new AsyncDisposableStack();
let foreman: Member;
let research: Member;
let flood: Member;
let client: Client;

beforeAll(async () => {
  const workspace = cleanup.use(await buildWorkspace(["agents/research", "agents/foreman", "test/fixtures/flood"]));
  ({ foreman, research } = cleanup.use(await startMembers(workspace)));
  flood = cleanup.use(await createMember("flood", workspace.server("flood")));
  await flood.start();
  client = new Client({ host: foreman.api, reconnectDelayMs: 20 });
});
afterAll(() => cleanup.disposeAsync());

/** `kill -9`, and up again while the caller goes on. */
async function restart(member: Member): Promise<{ readonly up: Promise<void> }> {
  await member.kill();
  return { up: member.start() };
}

test("§19 a response is iterated while its member is killed and comes back: nothing is lost, nothing comes twice", async () => {
  const { session, response } = await client.sessions.create({
    message: "Ask research what a tide is, and let the reviewer check it",
  });
  const moments: MessageStreamEvent["type"][] = ["step.started", "agent.started", "turn.waiting", "task.settled"];
  const events: MessageStreamEvent[] = [];
  let up: Promise<void> | undefined;
  for await (const event of response) {
    events.push(event);
    if (event.type !== moments[0]) continue;
    moments.shift();
    await up;
    ({ up } = await restart(foreman));
  }
  await up;
  expect(moments).toEqual([]);
  checkStream(events as StreamEvent[]);
  expect(events).toEqual((await session.snapshot()).events);
  expect(session.state.streamIndex).toBe(events.length);
  const replies = events.filter((event) => event.type === "message.completed");
  expect(replies.at(-1)!.data.message).toContain("regular rise and fall of the sea");
});

test(
  "§19 a result has the reply once when its member is killed in the middle of a reply",
  { timeout: 60_000 },
  async () => {
    const { sessions } = new Client({ host: flood.api, reconnectDelayMs: 20 });
    const { session, response } = await sessions.create({ message: "flood 20000" });
    const result = response.result();
    let seen = 0;
    let up: Promise<void> | undefined;
    for await (const event of sessions.attach(session.state.sessionId).stream()) {
      if (event.type === "message.appended" && ++seen === 2_000) ({ up } = await restart(flood));
      if (event.type === "session.waiting") break;
    }
    await up;
    const { events, message, error } = await result;
    expect(error).toBeUndefined();
    checkStream(events as StreamEvent[]);
    expect(events).toEqual((await session.snapshot()).events);
    const attempts = events.flatMap((event) => (event.type === "step.started" ? [event.data.attempt] : []));
    expect(attempts).toEqual([1, 2]);
    const numbers = message!.match(/\d+/g)!.map(Number);
    expect(numbers).toEqual(Array.from({ length: 10_000 }, (_, index) => index * 2 + 1));
  },
);

test("§16 a message with an operation id is sent until its member is there, and read once", async () => {
  const { session, response } = await client.sessions.create({ message: "Hello" });
  await response.result();
  await foreman.kill();
  const sending = session.send("Use count_words: one two three", { operationId: "once" });
  await foreman.start();
  const result = await (await sending).result();
  expect(result.message).toMatch(/count_words: .*words\W+3\b/);
  const again = await session.send("Use count_words: one two three", { operationId: "once" });
  expect((await again.result()).events).toEqual(result.events);
  const { events } = await session.snapshot();
  expect(events.filter(({ type }) => type === "message.received")).toHaveLength(2);
});

test("§10.6 a called agent is followed with access to its caller only, local or remote", async () => {
  const { session, response } = await client.sessions.create({
    message: "Ask research what a tide is, and let the reviewer check it",
  });
  const { events } = await response.result();
  const started = events.filter((event) => event.type === "agent.started");
  expect(started.map(({ data }) => [data.name, data.remote !== undefined])).toEqual([
    ["research", true],
    ["reviewer", false],
  ]);
  for (const each of started) {
    const agent = session.agent(each);
    const seen: MessageStreamEvent[] = [];
    for await (const event of agent.stream()) {
      seen.push(event);
      if (event.type === "session.waiting") break;
    }
    const own = new Client({ host: each.data.name === "research" ? research.api : foreman.api }).sessions;
    expect(seen).toEqual((await own.attach(agent.sessionId).snapshot()).events);
  }
});
