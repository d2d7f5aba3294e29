import { describe, expect, test } from "vitest";
import type { StreamEvent } from "../protocol/events.ts";
import { findOutcome } from "./watch-remote.ts";

const USAGE = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
const event = (type: StreamEvent["type"], data: unknown, deliveryIds?: string[]): StreamEvent =>
  ({
    type,
    data,
    meta: { id: "evt_1", at: "2026-01-01T00:00:00Z", ...(deliveryIds === undefined ? {} : { deliveryIds }) },
  }) as StreamEvent;
const turn = (n: number) => ({ turnId: `turn_${n}`, sequence: n });
const received = (n: number, ...ids: string[]) =>
  event("message.received", { ...turn(n), message: "", parts: [] }, ids);
const got = (n: number, message: string) => event("message.received", { ...turn(n), message, parts: [] });
const of = (deliveryId: string) => ({ deliveryId, position: 0, message: "" });
const said = (n: number, message: string) =>
  event("message.completed", { ...turn(n), stepIndex: 0, message, finishReason: "stop" });
const completed = (n: number) => event("turn.completed", turn(n));

describe("findOutcome: the turn that read a delivery", () => {
  test("its last message is the reply", () => {
    const events = [received(0, "a"), said(0, "interim"), said(0, "final"), completed(0)];
    expect(findOutcome(events, of("a"))).toEqual({ status: "completed", output: "final" });
  });

  test("is told from other turns", () => {
    const events = [received(0, "a"), said(0, "one"), completed(0), received(1, "b"), said(1, "two"), completed(1)];
    expect(findOutcome(events, of("b"))).toEqual({ status: "completed", output: "two" });
    expect(findOutcome(events, of("a"))).toEqual({ status: "completed", output: "one" });
  });

  test("a delivery that joined is answered by the turn it joined", () => {
    const events = [received(0, "a"), received(0, "b"), said(0, "both"), completed(0)];
    expect(findOutcome(events, of("b"))).toEqual({ status: "completed", output: "both" });
  });

  test.each([
    ["not read yet", [received(0, "a"), said(0, "one"), completed(0)], "b"],
    ["still working", [received(0, "a"), said(0, "one")], "a"],
    ["an empty stream", [], "a"],
  ] as const)("is not known: %s", (_, events, id) => {
    expect(findOutcome(events, of(id))).toBeUndefined();
  });

  test("a failed turn fails with its reason, a cancelled one is cancelled", () => {
    expect(
      findOutcome([received(0, "a"), event("turn.failed", { ...turn(0), code: "X", message: "broke" })], of("a")),
    ).toEqual({
      status: "failed",
      error: { code: "X", message: "broke" },
    });
    expect(findOutcome([received(0, "a"), event("turn.cancelled", turn(0))], of("a"))).toEqual({ status: "cancelled" });
  });

  test("a session that ended answers nothing any more", () => {
    const end = event("session.completed", { usage: USAGE });
    expect(findOutcome([received(0, "a"), end], of("a"))).toEqual({ status: "cancelled" });
    expect(findOutcome([end], of("a"))).toEqual({ status: "cancelled" });
    expect(findOutcome([received(0, "a"), said(0, "x"), completed(0), end], of("a"))).toMatchObject({
      status: "completed",
    });
  });

  test("also when something was written after the end", () => {
    const end = event("session.completed", { usage: USAGE });
    expect(findOutcome([received(0, "a"), end, event("agent.started", {})], of("a"))).toEqual({ status: "cancelled" });
  });

  test("without an id it is the message of that text behind those taken before", () => {
    const events = [got(0, "go"), said(0, "one"), completed(0), got(1, " go\n"), said(1, "two"), completed(1)];
    expect(findOutcome(events, { position: 0, message: "go" })).toMatchObject({ output: "one" });
    expect(findOutcome(events, { position: 1, message: "go" })).toMatchObject({ output: "two" });
    expect(findOutcome(events, { position: 2, message: "go" })).toBeUndefined();
    expect(findOutcome(events, { position: 1, message: "more" })).toBeUndefined();
  });

  test("events of a newer protocol are passed over", () => {
    const unknown = event("something.new" as never, { turnId: "turn_0" });
    expect(
      findOutcome([unknown, received(0, "a"), unknown, said(0, "x"), completed(0), unknown], of("a")),
    ).toMatchObject({
      output: "x",
    });
  });
});
