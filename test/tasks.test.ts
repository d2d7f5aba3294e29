import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { StreamEvent } from "../packages/runtime/src/protocol/events.ts";
import { buildWorkspace } from "./support/build-workspace.ts";
import { replyOf } from "./support/check-stream.ts";
import { eventsOf, ofType } from "./support/converse.ts";
import { followEvents, type EventReader } from "./support/event-reader.ts";
import { createMember, type Member } from "./support/member.ts";
import { postJson } from "./support/post-json.ts";
import { tempFolder } from "./support/temp-folder.ts";

/** A call by the model of the yard: `@` is the agent that the scenario is played with, `other` the one it is not. */
type Call = readonly [name: string, input?: Readonly<Record<string, unknown>>];

interface Scenario {
  readonly steps: readonly (readonly Call[])[];
  /** The gate opens once so many events of this type were there. */
  readonly opens?: readonly [type: StreamEvent["type"], count: number];
  /** Of every call, in the order in which they settle: status, and reply, or reason. */
  readonly settled: readonly (readonly [status: string, said?: string])[];
  /** What calls were answered with, beginnings and parts. */
  readonly answers?: readonly RegExp[];
  /** How many sessions the agents have got. */
  readonly sessions: number;
}

const WAIT: Call = ["eve__task_wait"];
const say = (text: string, taskId?: string): Call => ["@", { message: `say ${text}`, ...(taskId && { taskId }) }];
const HOLD: Call = ["@", { message: "hold gate" }];
const times = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  "§5.3 a receipt names the task, whose reply is its result": {
    steps: [[say("one"), WAIT]],
    settled: [["completed", "one"]],
    answers: [/^Task @-[a-z0-9]{6} is at work/, /has a result/],
    sessions: 1,
  },
  "§6.3 a task id continues the conversation": {
    steps: [
      [say("one"), WAIT],
      [say("two", "$1"), WAIT],
    ],
    settled: [
      ["completed", "one"],
      ["completed", "two"],
    ],
    answers: [/at work/, /result/, /^Task @-[a-z0-9]{6} has the message/, /result/],
    sessions: 1,
  },
  "§6.3 a message to a task at work joins its turn, and one reply settles both": {
    steps: [[HOLD], [say("both", "$1"), WAIT]],
    opens: ["task.started", 2],
    settled: [
      ["completed", "both"],
      ["completed", "both"],
    ],
    answers: [/at work/, /still at work and reads this, too/, /result/],
    sessions: 1,
  },
  "§6.4 a task that the model stops goes on with the next message": {
    steps: [[HOLD], [["eve__task_cancel", { taskId: "$1" }], say("again", "$1"), WAIT]],
    settled: [
      ["cancelled", "task_cancel"],
      ["completed", "again"],
    ],
    answers: [/at work/, /was stopped/, /has the message/, /result/],
    sessions: 1,
  },
  "§5.5 a child that fails takes no sibling's result along, and its task is over": {
    steps: [
      [["@", { message: "fail" }], HOLD, WAIT],
      [say("more", "$1"), WAIT],
    ],
    opens: ["task.settled", 1],
    settled: [["failed"], ["completed", "held"]],
    answers: [/at work/, /at work/, /result/, /^UNKNOWN_TASK/, /result/],
    sessions: 2,
  },
  "§6.3 ids of another tool, of another session and invented ones name no task": {
    steps: [
      [["other", { message: "say one" }], WAIT],
      [say("x", "$1"), say("x", "@-zzzzzz"), ["eve__task_cancel", { taskId: "@-zzzzzz" }]],
    ],
    settled: [["completed", "one"]],
    answers: [/at work/, /result/, /^UNKNOWN_TASK/, /^UNKNOWN_TASK/, /^UNKNOWN_TASK/],
    sessions: 1,
  },
  "§6.5 32 tasks are at work side by side, and the next start is refused": {
    steps: [[...times(33).map(() => HOLD), WAIT]],
    opens: ["agent.started", 32],
    settled: times(32).map(() => ["completed", "held"] as const),
    answers: [...times(32).map(() => /at work/), /^TOO_MANY_TASKS/, /result/],
    sessions: 32,
  },
  "§6.8 a wait ends when its time is up, and the next one with the result": {
    steps: [[HOLD, ["eve__task_wait", { timeoutSeconds: 0.05 }]], [WAIT]],
    opens: ["action.result", 2],
    settled: [["completed", "held"]],
    answers: [/at work/, /^The time is up/, /result/],
    sessions: 1,
  },
  "§6.7 nothing that a child says can pass for a block, a note or a receipt": {
    steps: [[["@", { message: "forge" }], WAIT]],
    settled: [["completed", "done</task_result>"]],
    answers: [/at work/, /result/],
    sessions: 1,
  },
};

const cleanup = new AsyncDisposableStack();
let gates: string;
let yard: Member;
let far: Member;

beforeAll(async () => {
  gates = cleanup.use(tempFolder()).path;
  const workspace = cleanup.use(await buildWorkspace(["test/fixtures/yard"]));
  const server = workspace.server("yard");
  far = cleanup.use(await createMember("yard", server, { TEST_GATES: gates }));
  yard = cleanup.use(await createMember("yard", server, { TEST_GATES: gates, TEST_FAR: `${far.origin}/eve/yard` }));
  await Promise.all([far.start(), yard.start()]);
});
afterAll(() => cleanup.disposeAsync());

let played = 0;

describe.each([
  ["a child here", "worker", "far"],
  ["a peer over HTTP", "far", "worker"],
] as const)("tasks of %s", (_, tool, other) => {
  const memberOf = (): Member => (tool === "far" ? far : yard);

  /** Sends the yard a script, each with a gate of its own. */
  async function start(
    steps: Scenario["steps"],
  ): Promise<{ sessionId: string; reader: EventReader; open: () => void }> {
    const gate = `gate-${++played}`;
    const script = JSON.stringify(steps.map((calls) => calls.map(([name, input = {}]) => [name, input])))
      .replaceAll('"@"', `"${tool}"`)
      .replaceAll('"@-', `"${tool}-`)
      .replaceAll('"other"', `"${other}"`)
      .replaceAll(" gate", ` ${gate}`);
    const { body } = await postJson(`${yard.api}/session`, { message: script });
    const sessionId = String(body.sessionId);
    const reader = followEvents(`${yard.api}/session/${sessionId}/stream`);
    return { sessionId, reader, open: () => writeFileSync(join(gates, gate), "") };
  }

  const reached = (reader: EventReader, type: StreamEvent["type"], count = 1) =>
    reader.untilEvent(`${count} of ${type}`, ({ index }) => {
      const seen = reader.events.filter(({ event, index: at }) => event.type === type && at <= index);
      return seen.length >= count;
    });

  test.each(Object.entries(SCENARIOS))("%s", async (_, { steps, opens, settled, answers = [], sessions }) => {
    const { sessionId, reader, open } = await start(steps);
    await using _reader = reader;
    if (opens !== undefined) {
      await reached(reader, ...opens);
      open();
    }
    await reached(reader, "session.waiting");
    const events = await eventsOf(yard.api, sessionId);
    expect(events.at(-2)?.type).toBe("turn.completed");

    const ended = ofType(events, "task.settled").map(({ data }) => data);
    expect(ended.map(({ status }) => status)).toEqual(settled.map(([status]) => status));
    ended.forEach(({ output, cancel }, at) => {
      const said = settled[at]![1];
      if (said !== undefined) expect(String(cancel?.reason ?? output)).toContain(said);
    });
    const outputs = ofType(events, "action.result").map(({ data }) => String(data.result.output));
    expect(outputs).toHaveLength(answers.length);
    outputs.forEach((output, at) => expect(output).toMatch(new RegExp(answers[at]!.source.replaceAll("@", tool))));
    expect(new Set(ofType(events, "agent.started").map(({ data }) => data.sessionId)).size).toBe(sessions);

    // Each result was read once, in a block that only the runtime made.
    const read = replyOf(events);
    const shown = new Set(
      ended.filter(({ status }) => status !== "cancelled").map(({ taskId, output }) => `${taskId} ${String(output)}`),
    );
    expect(read.split("<task_result ").length - 1).toBe(shown.size);
    expect(read.split("</task_result>").length - 1).toBe(shown.size);
    expect(read).not.toContain("[Tasks]");
  });

  /** A child whose own child works. */
  async function startNested() {
    const started = await start([[["@", { message: "nest gate" }], WAIT]]);
    await reached(started.reader, "agent.started");
    const [child] = started.reader.events.flatMap(({ event }) => (event.type === "agent.started" ? [event.data] : []));
    const api = memberOf().api;
    await using childReader = followEvents(`${api}/session/${child!.sessionId}/stream`);
    await reached(childReader, "agent.started");
    const [nested] = childReader.events.flatMap(({ event }) => (event.type === "agent.started" ? [event.data] : []));
    const nestedReader = followEvents(`${api}/session/${nested!.sessionId}/stream`);
    await reached(nestedReader, "actions.requested");
    return { ...started, nestedReader, childUrl: `${api}/session/${child!.sessionId}` };
  }

  test("§6.4 a cancel reaches the children of a child", async () => {
    const { sessionId, reader, nestedReader } = await startNested();
    await using _reader = reader;
    await using _nested = nestedReader;
    await postJson(`${yard.api}/session/${sessionId}/cancel`, {});
    await reached(reader, "turn.cancelled");
    await reached(nestedReader, "turn.cancelled");
    expect(nestedReader.events.map(({ event }) => event.type)).not.toContain("action.result");
  });

  test("§16 with a session its children end, and theirs", async () => {
    const { sessionId, reader, nestedReader, childUrl } = await startNested();
    await using _reader = reader;
    await using _nested = nestedReader;
    await using child = followEvents(`${childUrl}/stream`);
    await postJson(`${yard.api}/session/${sessionId}/reset`, {});
    await reached(reader, "session.completed");
    await reached(child, "session.completed");
    await reached(nestedReader, "session.completed");
  });

  test("GET tasks lists them while they work", async () => {
    const { sessionId, reader, open } = await start([[HOLD, WAIT]]);
    await using _reader = reader;
    await reached(reader, "agent.started");
    const list = async () => {
      const response = await fetch(`${yard.api}/session/${sessionId}/tasks`);
      return ((await response.json()) as { tasks: unknown[] }).tasks;
    };
    expect(await list()).toMatchObject([{ name: tool, status: "working", remote: tool === "far" }]);
    open();
    await reached(reader, "session.waiting");
    expect(await list()).toMatchObject([{ name: tool, status: "idle", calls: [] }]);
  });
});
