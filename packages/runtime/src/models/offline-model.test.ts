import type { LanguageModelV4Message, LanguageModelV4Prompt, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { describe, expect, it } from "vitest";
import { tasksNote, wrapDelegation } from "../engine/text.ts";
import { offlineModel } from "./offline-model.ts";
import { MAX_CALL_STEPS } from "./offline/next-step.ts";

import { NOTICE, add, lookUp, tools, user, settled, ask, answer, taskIdOf, named } from "./offline-model.fixture.ts";

describe("offlineModel", () => {
  it("asks, waits, hands the result on, waits, and combines", async () => {
    const prompt: LanguageModelV4Message[] = [
      { role: "system", content: "Be kind." },
      user("Ask research what a tide is, and let the reviewer check it."),
    ];
    const first = await ask(prompt);
    expect(named(first)).toEqual([["research", { message: "what a tide is" }]]);
    expect(first.text).toBe("");

    prompt.push(
      first.message,
      answer(first, 0),
      user(tasksNote([{ taskId: taskIdOf(first, 0), tool: "research" }], [])),
    );
    const held = await ask(prompt);
    expect(held).toMatchObject({ text: "", calls: [] });

    prompt.push(held.message, settled(taskIdOf(first, 0), `${NOTICE}\n\nlook_up: <Tides> & ebbs.`));
    const second = await ask(prompt);
    expect(named(second)).toEqual([["reviewer", { message: "check it:\n\nlook_up: <Tides> & ebbs." }]]);

    prompt.push(second.message, answer(second, 0), settled(taskIdOf(second, 0), `${NOTICE} Three words.`));
    const last = await ask(prompt);
    expect(last.calls).toEqual([]);
    expect(last.text).toBe(`${NOTICE}\n\nresearch: look_up: <Tides> & ebbs.\n\nreviewer: Three words.`);
    expect(await ask(prompt)).toEqual(last);
  });

  it("starts independent calls together and keeps the results of a failing one's siblings", async () => {
    const prompt = [user("Ask research what a tide is, ask the reviewer to say hello; add 2 and 3")];
    const first = await ask(prompt);
    expect(named(first)).toEqual([
      ["research", { message: "what a tide is" }],
      ["reviewer", { message: "say hello" }],
      ["add", { a: 2, b: 3 }],
    ]);
    expect(new Set(first.calls.map((call) => call.id)).size).toBe(3);

    const after = [
      ...prompt,
      first.message,
      answer(first, 0),
      answer(first, 1),
      answer(first, 2, { type: "json", value: { sum: 5 } }),
    ];
    const one = [...after, settled(taskIdOf(first, 1), "no address", "failed")];
    expect(await ask(one)).toMatchObject({ text: "", calls: [] });
    const { text } = await ask([...one, settled(taskIdOf(first, 0), "Water.")]);
    expect(text).toBe(`${NOTICE}\n\nresearch: Water.\n\nreviewer failed: no address\n\nadd: 5`);
  });

  it("stops at an error instead of calling again", async () => {
    const prompt = [user("add something")];
    const first = await ask(prompt);
    expect(named(first)).toEqual([["add", { a: 0, b: 0 }]]);
    const { text, calls } = await ask([
      ...prompt,
      first.message,
      answer(first, 0, { type: "error-text", value: "a is required" }),
    ]);
    expect(calls).toEqual([]);
    expect(text).toBe(`${NOTICE}\n\nadd failed: a is required`);
  });

  it("does not hand on what failed", async () => {
    const prompt = [user("Ask research what a tide is, and let the reviewer check it, then add 1 to it")];
    const first = await ask(prompt);
    const { text, calls } = await ask([
      ...prompt,
      first.message,
      answer(first, 0),
      settled(taskIdOf(first, 0), "it broke", "failed"),
    ]);
    expect(calls).toEqual([]);
    expect(text).toBe(
      `${NOTICE}\n\nresearch failed: it broke\n\nreviewer was not asked: there was no result to hand on.\n\nadd was not asked: there was no result to hand on.`,
    );
  });

  it("uses its lone tool for a question, as a delegated child does", async () => {
    const prompt = [user(wrapDelegation("what a tide is"))];
    const first = await ask(prompt, { tools: [lookUp] });
    expect(named(first)).toEqual([["look_up", { query: "tide" }]]);
    const { text } = await ask([...prompt, first.message, answer(first, 0, { type: "text", value: "Water rises." })], {
      tools: [lookUp],
    });
    expect(text).toBe(`${NOTICE}\n\nWater rises.`);
  });

  it("names the tool where a person asked, or where there is more to tell apart", async () => {
    const asked = [user("what a tide is")];
    const first = await ask(asked, { tools: [lookUp] });
    const found = answer(first, 0, { type: "text", value: "Water rises." });
    expect((await ask([...asked, first.message, found], { tools: [lookUp] })).text).toBe(
      `${NOTICE}\n\nlook_up: Water rises.`,
    );

    const delegated = [user(wrapDelegation("look up tides, then add 1 and 2"))];
    const both = await ask(delegated, { tools: [lookUp, add] });
    const answers = [answer(both, 0, { type: "text", value: "Water." }), answer(both, 1, { type: "text", value: "3" })];
    expect((await ask([...delegated, both.message, ...answers], { tools: [lookUp, add] })).text).toBe(
      `${NOTICE}\n\nlook_up: Water.\n\nadd: 3`,
    );
  });

  it("quotes what a child without tools was asked about, with facts only", async () => {
    const { text, calls } = await ask([user(wrapDelegation("check it:\n\nlook_up: Water rises. It falls."))], {});
    expect(calls).toEqual([]);
    expect(text).toBe(
      `${NOTICE} I was asked to “check it”. The text has 5 words in 2 sentences: “look_up: Water rises. It falls.”. Whether it is true I can not judge.`,
    );
  });

  it("says what it can do when no tool is named", async () => {
    const { text } = await ask([user("hello")]);
    expect(text).toContain(NOTICE);
    expect(text).toContain("“hello” (1 word in 1 sentence)");
    expect(text).toContain("ask research, reviewer, or use look_up, add");
  });

  it("answers the latest turn only, and knows what `it` was in the turn before", async () => {
    const prompt = [user("Ask research what a tide is")];
    const first = await ask(prompt);
    const done = [...prompt, first.message, answer(first, 0), settled(taskIdOf(first, 0), "Water.")];
    const history = [...done, (await ask(done)).message];
    expect((await ask([...history, user("hello")])).text).toContain("“hello”");
    expect(named(await ask([...history, user("Let the reviewer check it")]))).toEqual([
      ["reviewer", { message: "check it:\n\nresearch: Water." }],
    ]);
    expect(named(await ask([...history, user("Ask research what a tide is")]))).toEqual([
      ["research", { message: "what a tide is" }],
    ]);
  });

  it("does what a steering message adds, without forgetting or repeating", async () => {
    const prompt = [user("Ask research what a tide is")];
    const first = await ask(prompt);
    const steered = [
      ...prompt,
      first.message,
      answer(first, 0),
      user("Also add 1 and 2, ask research what a tide is, and let the reviewer check it"),
    ];
    const second = await ask(steered);
    expect(named(second)).toEqual([["add", { a: 1, b: 2 }]]);
    const later = [
      ...steered,
      second.message,
      answer(second, 0, { type: "text", value: "3" }),
      settled(taskIdOf(first, 0), "Water."),
    ];
    const third = await ask(later);
    expect(named(third)).toEqual([["reviewer", { message: "check it:\n\nadd: 3\n\nresearch: Water." }]]);
    const { text } = await ask([...later, third.message, answer(third, 0), settled(taskIdOf(third, 0), "Fine.")]);
    expect(text).toBe(`${NOTICE}\n\nresearch: Water.\n\nadd: 3\n\nreviewer: Fine.`);
  });

  it("lets a steering message speak of the turn's own results", async () => {
    const prompt = [user("Ask research what a tide is")];
    const first = await ask(prompt);
    const steered = [...prompt, first.message, answer(first, 0), user("let the reviewer check it")];
    expect(await ask(steered)).toMatchObject({ text: "", calls: [] });
    expect(named(await ask([...steered, settled(taskIdOf(first, 0), "Water.")]))).toEqual([
      ["reviewer", { message: "check it:\n\nWater." }],
    ]);
  });

  it("drops the rest of a cancelled turn", async () => {
    const prompt = [user("Ask research what a tide is, and let the reviewer check it")];
    const first = await ask(prompt);
    const id = taskIdOf(first, 0);
    const cancelled = [...prompt, first.message, answer(first, 0)];
    const bySettle = await ask([...cancelled, settled(id, "", "cancelled"), user("hello")]);
    const byNote = await ask([...cancelled, user(tasksNote([], [{ taskId: id, tool: "research" }])), user("hello")]);
    for (const { text, calls } of [bySettle, byNote]) {
      expect(calls).toEqual([]);
      expect(text).toContain("“hello”");
    }
    const again = await ask([...cancelled, settled(id, "", "cancelled"), user("Ask research what a tide is")]);
    expect(named(again)).toEqual([["research", { message: "what a tide is" }]]);
  });

  it("never exceeds its steps", async () => {
    const sums = Array.from({ length: 12 }, (_, at) => `add ${at} to it`);
    const prompt: LanguageModelV4Message[] = [user(`add 1 and 1; ${sums.join("; ")}`)];
    let steps = 0;
    for (let step = await ask(prompt); step.calls.length > 0; step = await ask(prompt)) {
      steps++;
      prompt.push(step.message, answer(step, 0, { type: "text", value: "2" }));
    }
    expect(steps).toBe(MAX_CALL_STEPS);
    expect((await ask(prompt)).text).toContain("add was not asked: the limit of 8 steps was reached.");
  });

  it("shows results of tasks that it knows nothing of", async () => {
    expect((await ask([user("hello"), settled("research-abcdef", "Late water.")])).text).toBe(
      `${NOTICE}\n\nresearch: Late water.`,
    );
  });

  it.each<[string, LanguageModelV4Prompt]>([
    ["an empty prompt", []],
    ["an empty message", [user("")]],
    [
      "a message of files",
      [
        {
          role: "user",
          content: [{ type: "file", mediaType: "image/png", data: { type: "data", data: new Uint8Array(3) } }],
        },
      ],
    ],
    ["only notes", [user(tasksNote([], []))]],
    ["a reply at the end", [user("hi"), { role: "assistant", content: [{ type: "text", text: "hi" }] }]],
    [
      "an approval",
      [user("hi"), { role: "tool", content: [{ type: "tool-approval-response", approvalId: "1", approved: true }] }],
    ],
  ])("always replies: %s", async (_, prompt) => {
    const { text, calls } = await ask(prompt);
    expect(calls).toEqual([]);
    expect(text).toContain(NOTICE);
  });

  it("makes no call when none is allowed, and fits a wanted schema", async () => {
    expect((await ask([user("Ask research what a tide is")], { tools, toolChoice: { type: "none" } })).calls).toEqual(
      [],
    );
    const schema = {
      type: "object",
      properties: { summary: { type: "string" }, sure: { type: "boolean" } },
      required: ["summary", "sure"],
    } as const;
    const { text } = await ask([user("hello")], { responseFormat: { type: "json", schema: schema as never } });
    expect(JSON.parse(text)).toEqual({ summary: expect.stringContaining(NOTICE), sure: true });
  });

  it("streams the same as it generates, in a few chunks, with usage that counts", async () => {
    const options = { prompt: [user("hello")], tools };
    const { stream } = await offlineModel().doStream(options);
    const parts: LanguageModelV4StreamPart[] = [];
    const reader = stream.getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read()) parts.push(next.value);
    const deltas = parts.flatMap((part) => (part.type === "text-delta" ? [part.delta] : []));
    expect(deltas.length).toBeGreaterThan(1);
    expect(deltas.length).toBeLessThanOrEqual(6);
    const generated = await offlineModel().doGenerate(options);
    expect(generated.content).toEqual([{ type: "text", text: deltas.join("") }]);
    expect(parts.at(-1)).toEqual({ type: "finish", finishReason: generated.finishReason, usage: generated.usage });
    expect(generated.usage.inputTokens.total).toBeGreaterThan(10);
    expect(generated.usage.outputTokens.total).toBe(Math.ceil(deltas.join("").length / 4));
  });

  it("stops for an aborted call", async () => {
    await expect(async () =>
      offlineModel().doStream({ prompt: [], abortSignal: AbortSignal.abort() }),
    ).rejects.toThrow();
  });
});
