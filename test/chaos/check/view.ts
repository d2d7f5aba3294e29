import type { StreamEvent } from "../../../packages/runtime/src/protocol/events.ts";
import { parseRun } from "../../fixtures/chaos/lib/program.ts";
import type { Effect, History, Stop, Stream } from "../history.ts";

export type EventOf<T extends StreamEvent["type"]> = Extract<StreamEvent, { type: T }>;

export interface StreamView extends Stream {
  readonly events: readonly StreamEvent[];
}

/** A history with its streams parsed. */
export interface View extends Omit<History, "streams"> {
  readonly streams: readonly StreamView[];
}

export function toView(history: History): View {
  const streams = history.streams.map((stream) => ({
    ...stream,
    events: stream.lines.map((line) => JSON.parse(line) as StreamEvent),
  }));
  return { ...history, streams };
}

/** A person opened it. */
export function isRoot({ parent, isHidden }: Stream): boolean {
  return parent === undefined && isHidden !== true;
}

export function ofType<T extends StreamEvent["type"]>({ events }: StreamView, type: T): EventOf<T>[] {
  return events.filter((event): event is EventOf<T> => event.type === type);
}

export type TurnEnd = EventOf<"turn.completed" | "turn.failed" | "turn.cancelled">;

/** Every event that ends a turn. */
export function endsOf(stream: StreamView): TurnEnd[] {
  return stream.events.filter(
    (event): event is TurnEnd =>
      event.type === "turn.completed" || event.type === "turn.failed" || event.type === "turn.cancelled",
  );
}

/** Whether a person stopped that turn, or its whole session. */
export function isStopped(stops: readonly Stop[], sessionId: string, turnId: string): boolean {
  return stops.some((stop) => stop.sessionId === sessionId && (stop.kind === "reset" || stop.turnId === turnId));
}

export function isReset(stops: readonly Stop[], sessionId: string): boolean {
  return stops.some((stop) => stop.sessionId === sessionId && stop.kind === "reset");
}

export function timeOf({ meta }: StreamEvent): number {
  return Date.parse(meta.at);
}

/** The run of a step: `m3#1.0` of `m3#1.0#2`. */
export function runOf(step: string): string {
  return step.slice(0, step.lastIndexOf("#"));
}

/** The runs that a session was asked for, with the turns that read them. */
export function runsOf(stream: StreamView): { readonly run: string; readonly turnId: string }[] {
  return ofType(stream, "message.received").flatMap(({ data }) => {
    const run = parseRun(data.message)?.id;
    return run === undefined ? [] : [{ run, turnId: data.turnId }];
  });
}

/** Only the end of a process is a reason to begin again. */
export function sameProcess(runs: readonly Effect[], what: string): string[] {
  const pids = runs.map(({ pid }) => pid);
  return new Set(pids).size === pids.length ? [] : [`${what} ran ${pids.length} times, twice in one process`];
}
