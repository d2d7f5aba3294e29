import { generateText } from "ai";
import { expect, test } from "vitest";
import { COMPACTION_PROMPT } from "../../engine/text.ts";
import { offlineModel } from "../offline-model.ts";

test("§16 the offline model sums up a conversation when it is asked to, and nothing else", async () => {
  const { text } = await generateText({
    model: offlineModel(),
    messages: [
      { role: "user", content: "remember 7" },
      { role: "assistant", content: `done ${"x".repeat(500)}` },
      { role: "user", content: COMPACTION_PROMPT },
    ],
  });
  expect(text).toBe(`asked: remember 7\nanswered: done ${"x".repeat(395)}…`);
});
