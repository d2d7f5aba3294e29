import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import { experimental_streamLanguageModelCall, wrapLanguageModel, type ModelMessage } from "ai";
import { MockLanguageModelV4, convertArrayToReadableStream } from "ai/test";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { HistoryItem } from "../engine/state.ts";
import { toModelMessages } from "./to-model-messages.ts";
import { draftPrompt } from "./to-prompt.ts";

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** What the AI SDK hands to a model that reads these messages. */
async function convert(
  messages: ModelMessage[],
  complete: (prompt: LanguageModelV4Prompt) => LanguageModelV4Prompt = (prompt) => prompt,
): Promise<LanguageModelV4Prompt> {
  const mock = new MockLanguageModelV4({
    supportedUrls: { "*/*": [/.*/] },
    doStream: async () => ({
      stream: convertArrayToReadableStream([
        { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage: USAGE },
      ]),
    }),
  });
  const model = wrapLanguageModel({
    model: mock,
    middleware: {
      specificationVersion: "v4",
      transformParams: async ({ params }) => ({ ...params, prompt: complete(params.prompt) }),
    },
  });
  await experimental_streamLanguageModelCall({ model, instructions: "Be brief.", messages });
  return mock.doStreamCalls[0]!.prompt;
}

const whole = (history: readonly HistoryItem[]) => convert(toModelMessages(history));
const stepwise = (history: readonly HistoryItem[]) => {
  const { messages, complete } = draftPrompt(history);
  return convert(messages, complete);
};

const user = (text: string): HistoryItem => ({ role: "user", parts: [{ type: "text", text }] });
const said = (text: string): HistoryItem => ({ role: "assistant", stepKey: `s/${text}`, text, calls: [] });

test("a step has converted what the last one has added, and nothing else", async () => {
  const history = [user("one"), said("1"), user("two")];
  expect(draftPrompt(history).messages).toHaveLength(3);
  await stepwise(history);
  const longer = [...history, said("2"), user("three")];
  expect(draftPrompt(longer).messages).toEqual(toModelMessages([user("two"), said("2"), user("three")]));
  expect(await stepwise(longer)).toEqual(await whole(longer));
  // The same step once more, after a failure.
  expect(draftPrompt(longer).messages).toEqual(toModelMessages([user("three")]));
  expect(await stepwise(longer)).toEqual(await whole(longer));
});

test("a call that has no result yet is converted again", async () => {
  const called: HistoryItem = {
    role: "assistant",
    stepKey: "s",
    text: "",
    calls: [{ callId: "c", toolName: "a", input: {} }],
  };
  await stepwise([user("go"), called, user("and?")]);
  const answered = [user("go"), called, user("and?"), tool("c", "done"), user("now")];
  expect(await stepwise(answered)).toEqual(await whole(answered));
  expect(JSON.stringify(await stepwise(answered))).toContain("done");
});

test("a history that goes on in another way is converted anew", async () => {
  const shared = [user("one"), said("1"), user("two"), said("2")];
  await stepwise([...shared, user("three")]);
  const other = [shared[0]!, said("other"), shared[2]!, shared[3]!, user("four")];
  expect(await stepwise(other)).toEqual(await whole(other));
});

test("any history, however its steps fall, becomes what the AI SDK makes of all of it", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(anyTurn(), fc.boolean()), { minLength: 1, maxLength: 12 }), async (turns) => {
      let history: readonly HistoryItem[] = [];
      for (const [index, [turn, isStep]] of turns.entries()) {
        history = [...history, ...turn(index), user(`turn ${index}`)];
        if (isStep) expect(await stepwise(history)).toEqual(await whole(history));
      }
    }),
    { numRuns: 60 },
  );
}, 20_000);

function tool(callId: string, output: unknown): HistoryItem {
  return { role: "tool", callId, toolName: "a", output, failed: false };
}

/** What one turn adds: texts, files, thoughts, calls with and without results, notes. */
function anyTurn(): fc.Arbitrary<(index: number) => HistoryItem[]> {
  const call = (callId: string) => ({ callId, toolName: "a", input: { callId } });
  const metadata = { acme: { signature: "x" } };
  return fc.constantFrom<(index: number) => HistoryItem[]>(
    (index) => [said(`text ${index}`)],
    () => [said("  ")],
    (index) => [{ role: "note", text: `note ${index}` }],
    () => [{ role: "user", parts: [{ type: "file", mediaType: "image/png", url: "https://example.com/a.png" }] }],
    () => [{ role: "user", parts: [{ type: "file", mediaType: "image/png", data: "aGk=" }] }],
    (index) => [
      { role: "assistant", stepKey: `s/${index}`, text: "", calls: [call(`a${index}`), call(`b${index}`)] },
      tool(`b${index}`, "B"),
      { role: "note", text: "between" },
      tool(`a${index}`, { a: index }),
    ],
    (index) => [{ role: "assistant", stepKey: `s/${index}`, text: "", calls: [call(`c${index}`)] }],
    (index) => [
      {
        role: "assistant",
        stepKey: `s/${index}`,
        text: "go",
        calls: [call(`d${index}`)],
        content: [
          { type: "reasoning", text: "hm", providerMetadata: metadata },
          { type: "text", length: 2 },
          { type: "call", providerMetadata: metadata },
        ],
      },
      tool(`d${index}`, "D"),
    ],
  );
}
