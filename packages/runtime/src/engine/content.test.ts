import { expect, test } from "vitest";
import { calls, deliver, refold, says, startTurn, toolCall, toolSettled } from "./session.fixture.ts";
import type { ContentPart } from "./state.ts";

const SIGNED = { acme: { signature: "s/1==" } };
const CONTENT: readonly ContentPart[] = [
  { type: "reasoning", text: "Add them.", providerMetadata: SIGNED },
  { type: "text", length: 8 },
  { type: "call", providerMetadata: { acme: { itemId: "fc_1" } } },
];

test("what a provider must get back is kept with the response, and never public", () => {
  const session = startTurn();
  session.apply({ ...calls(toolCall("t1")), kind: "model.responded", text: "Let's go", content: CONTENT } as never);
  session.apply(toolSettled("t1"));
  session.apply({ ...says("3"), content: [{ type: "text", length: 1, providerMetadata: SIGNED }] } as never);
  const assistant = session.state.history.filter(({ role }) => role === "assistant");
  expect(assistant).toMatchObject([
    { text: "Let's go", calls: [{ callId: "t1" }], content: CONTENT },
    { text: "3", calls: [], content: [{ type: "text", length: 1, providerMetadata: SIGNED }] },
  ]);
  const shown = session.entries.flatMap((entry) => (entry.public ? [entry.data] : []));
  expect(JSON.stringify(shown)).not.toContain("signature");
  expect(refold(session.entries)).toEqual(session.state);
});

test("a response that is only text and calls adds nothing to the log", () => {
  const session = startTurn();
  session.apply({ ...calls(toolCall("t1")), text: "Let's go" } as never);
  session.apply(toolSettled("t1"));
  session.apply(says("3"));
  session.apply(deliver("more"));
  const inner = session.entries.flatMap((entry) => (entry.public && "inner" in entry ? [entry.type] : []));
  expect(new Set(inner)).toEqual(new Set(["turn.started", "message.received"]));
});
