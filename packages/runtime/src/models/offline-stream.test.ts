import { jsonSchema, streamText, type ToolSet } from "ai";
import { describe, expect, it } from "vitest";
import { AGENT_TOOL_SCHEMA, startedReceipt, taskResultMessage } from "../engine/text.ts";
import { offlineModel } from "./offline-model.ts";

import { NOTICE, add } from "./offline-model.fixture.ts";

describe("through streamText", () => {
  it("plays a turn with an agent and a tool", async () => {
    const set: ToolSet = {
      research: { description: "Knows things.", inputSchema: jsonSchema(AGENT_TOOL_SCHEMA as never) },
      add: { inputSchema: jsonSchema(add.inputSchema) },
    };
    const first = streamText({
      model: offlineModel(),
      tools: set,
      prompt: "Ask research what a tide is, and add 2 and 3",
    });
    expect(await first.finishReason).toBe("tool-calls");
    const calls = await first.toolCalls;
    expect(calls.map(({ toolName, input }) => [toolName, input])).toEqual([
      ["research", { message: "what a tide is" }],
      ["add", { a: 2, b: 3 }],
    ]);
    const [asked, added] = calls;
    const { messages } = await first.response;
    const second = streamText({
      model: offlineModel(),
      tools: set,
      messages: [
        { role: "user", content: "Ask research what a tide is, and add 2 and 3" },
        ...messages,
        {
          role: "tool",
          content: [
            {
              type: "tool-result",
              toolCallId: asked!.toolCallId,
              toolName: "research",
              output: { type: "text", value: startedReceipt("research-abc123", "research") },
            },
            { type: "tool-result", toolCallId: added!.toolCallId, toolName: "add", output: { type: "json", value: 5 } },
          ],
        },
        {
          role: "user",
          content: taskResultMessage([
            { taskId: "research-abc123", tool: "research", status: "completed", text: "Water." },
          ]),
        },
      ],
    });
    expect(await second.text).toBe(`${NOTICE}\n\nresearch: Water.\n\nadd: 5`);
    expect((await second.usage).totalTokens).toBeGreaterThan(50);
  });
});
