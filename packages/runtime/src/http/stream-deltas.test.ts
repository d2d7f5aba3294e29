import { expect, test } from "vitest";
import type { Delta, Perform } from "../engine/ports.ts";
import type { StreamEvent } from "../protocol/events.ts";
import { createTestApp, saying } from "./app.fixture.ts";

type Piece = readonly [type: Delta["type"], text: string];

/** A model that says these pieces as fast as it can, letting others run after every `batch`. */
function streaming(pieces: readonly Piece[], batch: number): Perform {
  return async (effect, context) => {
    const { turnId, sequence, stepIndex } = context.state.turn!;
    const step = { turnId, sequence, stepIndex };
    for (const [index, [type, text]] of pieces.entries()) {
      if (index % batch === 0) await new Promise((resolve) => setImmediate(resolve));
      context.stream(
        type === "message.appended"
          ? { public: true, type, data: { ...step, messageDelta: text } }
          : { public: true, type, data: { ...step, reasoningDelta: text } },
      );
    }
    const said = await saying(textOf(pieces, "message.appended"))(effect, context);
    return { ...said, reasoning: textOf(pieces, "reasoning.appended") } as typeof said;
  };
}

function textOf(pieces: readonly Piece[], wanted: Delta["type"]): string {
  return pieces.flatMap(([type, text]) => (type === wanted ? [text] : [])).join("");
}

/** The pieces that a stream shows, neighbours of one kind joined. */
function joined(pieces: readonly Piece[]): Piece[] {
  return pieces.reduce<Piece[]>((runs, [type, text]) => {
    const last = runs.at(-1);
    return last?.[0] === type ? [...runs.slice(0, -1), [type, last[1] + text]] : [...runs, [type, text]];
  }, []);
}

function toPiece(event: StreamEvent): Piece[] {
  if (event.type === "message.appended") return [[event.type, event.data.messageDelta]];
  return event.type === "reasoning.appended" ? [[event.type, event.data.reasoningDelta]] : [];
}

const numbered = (count: number, type: (index: number) => Delta["type"]): Piece[] =>
  Array.from({ length: count }, (_, index) => [type(index), `${index} `] as const);

test.each<[string, Piece[], number]>([
  ["all of one kind, at once", numbered(5_000, () => "message.appended"), Infinity],
  ["all of one kind, over time", numbered(5_000, () => "message.appended"), 50],
  ["that take turns", numbered(1_000, (index) => (index % 2 === 0 ? "message.appended" : "reasoning.appended")), 20],
  ["in runs", numbered(3_000, (index) => (index % 100 < 37 ? "reasoning.appended" : "message.appended")), 10],
])("deltas %s: joined, never reordered, all before what completes them", async (_, pieces, batch) => {
  const { create, until, get } = await createTestApp({ perform: streaming(pieces, batch) });
  const sessionId = await create();
  await until(sessionId, "session.waiting");
  const text = await (await get(`/session/${sessionId}/stream?follow=false`)).text();
  const events = text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as StreamEvent]));

  const shown = events.flatMap(toPiece);
  const runs = joined(pieces);
  expect(joined(shown)).toEqual(runs);
  expect(shown.length).toBeLessThan(runs.length === pieces.length ? pieces.length + 1 : pieces.length / 5);
  const types = events.map(({ type }) => type);
  const completed = types.findIndex((type) => type.endsWith(".completed"));
  expect(types.slice(completed).filter((type) => type.endsWith(".appended"))).toEqual([]);
  const whole = events.find((event) => event.type === "message.completed")!.data.message;
  expect(whole).toBe(textOf(pieces, "message.appended"));
});
