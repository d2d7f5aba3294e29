import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "./support/build-workspace.ts";
import { converse } from "./support/converse.ts";
import { attachDebugger } from "./support/debugger.ts";
import { createAuthoredWorkspace, runEve } from "./support/dev-member.ts";
import { freePort } from "./support/free-port.ts";
import { until } from "./support/until.ts";

const TOOL = "agents/foreman/agent/tools/count_words.ts";

test("a breakpoint in an authored file is hit, also in the code of a later build", async () => {
  const source = readFileSync(join(ROOT, TOOL), "utf8");
  const agent = `import { defineAgent } from "eve";\nexport default defineAgent({});`;
  using workspace = createAuthoredWorkspace({ "agents/foreman/agent/agent.ts": agent, [TOOL]: source });
  const inspector = `127.0.0.1:${await freePort()}`;
  await using dev = await runEve(workspace, "foreman", ["dev", `--inspect=${inspector}`]);
  await dev.untilLogged(/foreman ready/);
  expect(dev.log).toContain(`[foreman] Debugger listening on ws://${inspector}/`);

  using debug = await attachDebugger(inspector);
  const stopsAt = async (text: string, builds: number): Promise<void> => {
    await until("the breakpoint is set", () => debug.places === builds);
    const conversation = converse(dev.api, `Use count_words on "${text}"`);
    const paused = await debug.untilPaused();
    expect(await paused.evaluate("text")).toBe(text);
    await paused.resume();
    await conversation;
  };
  const line = source.split("\n").findIndex((text) => text.includes("words: text.split")) + 1;
  debug.breakAt(join(workspace.root, TOOL), line);
  await stopsAt("one two three", 1);

  const from = dev.log.length;
  workspace.write(TOOL, source.replace("words: text.split", "words: text.trim().split"));
  await dev.untilLogged(/foreman updated/, from);
  await stopsAt("four five", 2);
});
