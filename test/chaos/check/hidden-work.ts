import { rootRun } from "../../fixtures/chaos/lib/program.ts";
import { isReset, ofType, runOf, runsOf, type View } from "./view.ts";

/** Nobody works in a session that no stream names, unless its caller was reset; then it is, too (§10.2, §16). */
export function hiddenWork({ effects, streams, messages, stops }: View): string[] {
  const announced = streams.filter(({ isHidden }) => isHidden !== true);
  const known = new Set(announced.flatMap((stream) => runsOf(stream).map(({ run }) => run)));
  const reset = new Set(
    messages.flatMap(({ run, answers }) => (answers[0] && isReset(stops, answers[0].sessionId) ? [run] : [])),
  );
  const hidden = effects.filter(
    ({ kind, key }) => kind === "model" && !known.has(runOf(key)) && !reset.has(rootRun(key)),
  );
  const alive = streams.filter((stream) => stream.isHidden && ofType(stream, "session.completed").length === 0);
  return [
    ...hidden.map(({ key, node }) => `${node} worked on ${key}, and no stream says so`),
    ...alive.map(({ sessionId }) => `${sessionId} was never announced, and lives on`),
  ];
}
