import type { LanguageModelV4Message } from "@ai-sdk/provider";
import fc from "fast-check";
import { expect, it } from "vitest";
import { AGENT_TOOL_SCHEMA, startedReceipt, taskResultMessage, tasksNote, type TaskResult } from "../../engine/text.ts";
import { offlineModel } from "../offline-model.ts";
import { MAX_CALL_STEPS } from "./next-step.ts";

const tools = [
  ...["research", "reviewer", "agent"].map((name) => ({
    type: "function" as const,
    name,
    inputSchema: AGENT_TOOL_SCHEMA as never,
  })),
  {
    type: "function" as const,
    name: "look_up",
    inputSchema: { type: "object", properties: { query: { type: "string" } }, required: ["query"] } as never,
  },
  {
    type: "function" as const,
    name: "add",
    inputSchema: { type: "object", properties: { a: { type: "number" } }, required: ["a"] } as never,
  },
];

const word = fc.constantFrom(
  "ask",
  "let",
  "research",
  "reviewer",
  "agent",
  "look",
  "look_up",
  "add",
  "it",
  "that",
  "and",
  "then",
  ",",
  ";",
  ".",
  ":\n\n",
  "3",
  '"a b"',
  "tide",
  "\n- ",
  "research-abc123",
  "…",
  "combine",
  "with",
  "to",
);
const message = fc.array(word, { maxLength: 30 }).map((words) => words.join(" "));
/** What becomes of each started call, and what else happens in between. */
const fate = fc.constantFrom<"completed" | "failed" | "cancelled" | "lost" | "error">(
  "completed",
  "failed",
  "cancelled",
  "lost",
  "error",
);
const steering = fc.option(message, { freq: 8, nil: undefined });

const user = (text: string): LanguageModelV4Message => ({ role: "user", content: [{ type: "text", text }] });

/** Plays the runtime: every started call meets its fate, in any order, until the model gives a final reply. */
it("ends every turn with a reply, within its steps, without making a call twice", async () => {
  await fc.assert(
    fc.asyncProperty(
      message,
      fc.infiniteStream(fate),
      fc.infiniteStream(steering),
      fc.infiniteStream(fc.nat(5)),
      async (first, fates, steers, picks) => {
        const prompt = [user(first)];
        const working: TaskResult[] = [];
        /** Calls that were not stopped; those may be asked for again by a newer message. */
        const lasting: string[] = [];
        for (let callSteps = 0, rounds = 0, tasks = 0; ; rounds++) {
          expect(rounds).toBeLessThan(200);
          const { content } = await offlineModel().doGenerate({ prompt, tools });
          const calls = content.flatMap((part) => (part.type === "tool-call" ? [part] : []));
          const text = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
          if (calls.length === 0 && working.length === 0) {
            expect(text).toContain("offline model");
            return;
          }
          if (calls.length > 0) {
            expect(++callSteps).toBeLessThanOrEqual(MAX_CALL_STEPS);
            const asked = calls.map((call) => `${call.toolName} ${call.input}`);
            expect(new Set([...lasting, ...asked]).size).toBe(lasting.length + asked.length);
            expect(text).toBe("");
            prompt.push({
              role: "assistant",
              content: calls.map(({ toolCallId, toolName, input }) => ({
                type: "tool-call",
                toolCallId,
                toolName,
                input: JSON.parse(input) as unknown,
              })),
            });
          } else expect(text).toBe("");

          for (const { toolCallId, toolName, input } of calls) {
            const end = fates.next().value;
            const taskId = `${toolName}-${String(++tasks).padStart(6, "0")}`;
            const isTask = !["look_up", "add"].includes(toolName);
            if (isTask && end !== "error" && end !== "lost")
              working.push({ taskId, tool: toolName, status: end, text: `${toolName} says 5` });
            if (!isTask || (end !== "cancelled" && end !== "lost")) lasting.push(`${toolName} ${input}`);
            const value = end === "error" ? "no" : isTask ? startedReceipt(taskId, toolName) : "7";
            prompt.push({
              role: "tool",
              content: [
                {
                  type: "tool-result",
                  toolCallId,
                  toolName,
                  output: { type: end === "error" ? "error-text" : "text", value },
                },
              ],
            });
          }
          const [settled] =
            working.length > 0 && calls.length === 0 ? working.splice(picks.next().value % working.length, 1) : [];
          if (settled !== undefined) prompt.push(user(taskResultMessage([settled])));
          prompt.push(user(tasksNote(working, [])));
          const steer = rounds < 20 ? steers.next().value : undefined;
          if (steer !== undefined) prompt.push(user(steer));
        }
      },
    ),
    { numRuns: 500 },
  );
});

it.each([
  ["spaces", " "],
  ["prose", "Ask research what a tide is, and let the reviewer check it. "],
  ["quotes", '"a" '],
  ["commas", ", "],
  ["words", "and then "],
])("reads a long message of %s in reasonable time", async (_, text) => {
  const prompt = [user(`x${text.repeat(200_000 / text.length)}x`)];
  const start = performance.now();
  await offlineModel().doGenerate({ prompt, tools });
  expect(performance.now() - start).toBeLessThan(3_000);
});
