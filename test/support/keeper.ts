import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { buildWorkspace, ROOT, type BuiltWorkspace } from "./build-workspace.ts";
import { createMember, type Env, type Member } from "./member.ts";

const FIXTURE = "test/fixtures/keeper";

/** What the later build says of its helper. */
export const LATER_DESCRIPTION = "Measures texts, now in metres.";

/** Builds the member whose sessions are recorded (`fixtures/keeper`). */
export function buildKeeper(): Promise<BuiltWorkspace> {
  return buildWorkspace([FIXTURE]);
}

/** The same member after its author went on: another tool, another description, other instructions. */
export function buildLaterKeeper(): Promise<BuiltWorkspace> {
  const helper = "agent/subagents/helper/agent.ts";
  const source = readFileSync(join(ROOT, FIXTURE, helper), "utf8");
  const changed = source.replace("Measures texts.", LATER_DESCRIPTION);
  if (changed === source) throw new Error(`${FIXTURE}/${helper} has no description to change.`);
  return buildWorkspace([FIXTURE], {
    [`agents/keeper/${helper}`]: changed,
    "agents/keeper/agent/instructions.md": "Play the later script.\n",
    "agents/keeper/agent/tools/stamp.ts": `
      import { defineTool } from "eve/tools";
      import { z } from "zod";
      export default defineTool({ description: "Stamps.", inputSchema: z.object({}), execute: () => "a stamp" });
    `,
  });
}

/** A keeper that notes in `journal` what it runs. */
export function createKeeper(workspace: BuiltWorkspace, journal: string, env: Env = {}): Promise<Member> {
  return createMember("keeper", workspace.server("keeper"), {
    TEST_JOURNAL: journal,
    EVE_ORIGIN: "http://keeper.test",
    ...env,
  });
}

/** Who is where: the name of a host before `.test`, and its origin. */
export function hostsEnv(hosts: Readonly<Record<string, string>>): Env {
  return { TEST_HOSTS: JSON.stringify(hosts) };
}

export interface Noted {
  readonly kind: "model" | "tool" | "request";
  readonly key: string;
}

/** What the keepers of a journal ran so far. */
export function readJournal(path: string): Noted[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .split("\n")
    .flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Noted]));
}
