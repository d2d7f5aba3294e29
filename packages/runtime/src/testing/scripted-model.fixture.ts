/** Tests that must pass or fail as their names say; `scripted-model.test.ts` runs them in a vitest of its own. */
import { expect, onTestFinished, test } from "vitest";
import { scriptedModel, type ScriptedModel } from "./index.ts";

async function play(model: ScriptedModel): Promise<void> {
  await model.doGenerate({ prompt: [] });
}

test("passes: hook, played", async () => {
  await play(scriptedModel([{ text: "a" }], { onTestFinished }));
});

test("fails: hook, steps left", async () => {
  await play(scriptedModel([{ text: "a" }, { text: "b" }], { onTestFinished }));
});

test("fails: hook, called too often and swallowed", async () => {
  const model = scriptedModel([], { onTestFinished });
  await play(model).catch(() => {});
});

test("fails: hook, expectation swallowed", async () => {
  const model = scriptedModel([{ text: "a", expect: ({ tools }) => expect(tools).toEqual(["add"]) }], {
    onTestFinished,
  });
  await play(model).catch(() => {});
});

test("passes: hook of the test context", async (context) => {
  await play(scriptedModel([{ text: "a" }], context));
});

test("fails: hook of the test context, steps left", (context) => {
  scriptedModel([{ text: "a" }], context);
});

test("passes: using, played", async () => {
  using model = scriptedModel([{ text: "a" }]);
  await play(model);
});

test("fails: using, steps left", () => {
  using model = scriptedModel([{ text: "a" }]);
  expect(model.remaining).toBe(1);
});
