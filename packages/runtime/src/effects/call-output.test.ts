import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { expect, test } from "vitest";
import { message, startTurn } from "../engine/session.fixture.ts";
import type { Delivery } from "../engine/state.ts";
import { call, createTestMember, finish, SAID, streaming, type Called } from "./call-model.fixture.ts";

const SCHEMA = { type: "object", properties: { n: { type: "number" } }, required: ["n"] } as const;
const text = (delta: string): LanguageModelV4StreamPart[] => [
  { type: "text-start", id: "0" },
  { type: "text-delta", id: "0", delta },
  { type: "text-end", id: "0" },
];

async function ask(
  parts: readonly LanguageModelV4StreamPart[],
  options: Partial<Delivery> = { outputSchema: SCHEMA },
): Promise<Called & { readonly asked: readonly LanguageModelV4CallOptions[] }> {
  const asked: LanguageModelV4CallOptions[] = [];
  const model = streaming(parts);
  const doStream: typeof model.doStream = (given) => {
    asked.push(given);
    return model.doStream(given);
  };
  const { state } = startTurn({ first: message("hello", options) });
  return { ...(await call(createTestMember({ model: { ...model, doStream } }), state)), asked };
}

test("a turn with an output schema asks the provider for JSON of it, and says what came", async () => {
  const { result, asked } = await ask([...text('{"n":4}'), finish("stop")]);
  expect(asked[0]?.responseFormat).toMatchObject({ type: "json", schema: SCHEMA });
  expect(result).toMatchObject({ text: '{"n":4}', output: { valid: true, value: { n: 4 } } });
  const plain = await ask([...SAID, finish("stop")], {});
  expect(plain.asked[0]?.responseFormat ?? { type: "text" }).toEqual({ type: "text" });
  expect(plain.result).not.toHaveProperty("output");
});

test.each([
  ["no JSON", "The answer is 4"],
  ["JSON of another form", '{"n":"four"}'],
  ["half of it", '{"n":'],
  ["nothing", ""],
])("a reply to it that is %s is a response all the same, with what is wrong", async (_, said) => {
  const { result } = await ask([...(said === "" ? [] : text(said)), finish("stop")]);
  expect(result).toMatchObject({ kind: "model.responded", text: said, output: { valid: false } });
});

test("what is said beside a call is no reply to it", async () => {
  const asks = { type: "tool-call", toolCallId: "t1", toolName: "add", input: "{}" } as const;
  const { result } = await ask([...text("let me see"), asks, finish("stop")]);
  expect(result).toMatchObject({ kind: "model.responded", calls: [{ callId: "t1" }] });
  expect(result).not.toHaveProperty("output");
});
