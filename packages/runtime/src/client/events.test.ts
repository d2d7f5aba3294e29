import { describe, expect, expectTypeOf, test } from "vitest";
import {
  Client,
  isCurrentTurnBoundaryEvent,
  type EventOf,
  type MessageResult,
  type MessageStreamEvent,
} from "./index.ts";
import { z } from "zod";

/** Any event as it may come, for what only its type decides on. */
const sample = (type: string, data: object = {}): MessageStreamEvent =>
  ({ type, data, meta: { id: "evt_0", at: "2026-11-30T00:00:00.000Z" } }) as MessageStreamEvent;

describe("the type of an event tells what its data holds", () => {
  test("of members, from their schemas", () => {
    const event = sample("message.appended", { messageDelta: "a" });
    if (event.type !== "message.appended") throw new Error("It is.");
    expectTypeOf(event.data.messageDelta).toEqualTypeOf<string>();
    expectTypeOf(event.data.stepIndex).toEqualTypeOf<number>();
    expectTypeOf(event.meta.deliveryIds).toEqualTypeOf<readonly string[] | undefined>();
    // @ts-expect-error An event of another type has that.
    void event.data.reasoningDelta;
    expect(event.data.messageDelta).toBe("a");
  });

  test("of servers of eve, too", () => {
    expectTypeOf<EventOf<"action.input.appended">["data"]["inputTextDelta"]>().toEqualTypeOf<string>();
    expectTypeOf<EventOf<"input.requested">["data"]["requests"][number]["requestId"]>().toEqualTypeOf<string>();
    expectTypeOf<EventOf<"session.failed">["data"]["code"]>().toEqualTypeOf<string>();
    expectTypeOf<EventOf<"result.completed">["data"]["result"]>().toEqualTypeOf<unknown>();
  });

  test("in a loop over a stream, and in the events of a result", () => {
    const session = new Client({ host: "http://127.0.0.1:1" }).sessions.attach("s");
    expectTypeOf(session.stream()).toExtend<AsyncIterable<MessageStreamEvent>>();
    expectTypeOf<MessageResult["events"][number]>().toEqualTypeOf<MessageStreamEvent>();
    // @ts-expect-error There is no such event.
    expect(sample("x").type === "message.unheard").toBe(false);
  });
});

describe("what is sent decides what comes back", () => {
  const client = new Client({ host: "http://127.0.0.1:1" });

  test("a message is answered, its absence is not", () => {
    const withMessage = () => client.sessions.create({ message: "hello" });
    const without = () => client.sessions.create({ operationId: "o" });
    expectTypeOf<Awaited<ReturnType<typeof withMessage>>>().toHaveProperty("response");
    expectTypeOf<Awaited<ReturnType<typeof without>>>().not.toHaveProperty("response");
  });

  test("a schema is the type of the data", () => {
    const session = client.sessions.attach("s");
    const send = () => session.send("hello", { outputSchema: z.object({ title: z.string() }) });
    type Response = Awaited<ReturnType<typeof send>>;
    expectTypeOf<Awaited<ReturnType<Response["result"]>>["data"]>().toEqualTypeOf<{ title: string } | undefined>();
    const named = () => session.send<{ n: number }>("hello", { outputSchema: { type: "object" } });
    type Named = Awaited<ReturnType<Awaited<ReturnType<typeof named>>["result"]>>["data"];
    expectTypeOf<Named>().toEqualTypeOf<{ n: number } | undefined>();
  });
});

test.each([
  ["session.waiting", {}, true],
  ["session.completed", {}, true],
  ["session.failed", {}, true],
  ["turn.waiting", { on: "input" }, true],
  ["turn.waiting", { on: "tasks" }, false],
  ["turn.completed", {}, false],
  ["turn.failed", {}, false],
])("%s %o: the caller is up: %s", (type, data, boundary) => {
  expect(isCurrentTurnBoundaryEvent(sample(type, data))).toBe(boundary);
});
