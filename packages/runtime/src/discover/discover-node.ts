import { readFileSync } from "node:fs";
import { relative, sep } from "node:path";
import { discoverSandbox, type DiscoveredSandbox } from "./discover-sandbox.ts";
import { checkSlotName } from "./names.ts";
import { near } from "../define/closest.ts";
import { readFolder, type Entry } from "./read-folder.ts";
import type { Report } from "./report.ts";

/** One authored module: its key in the bundle's table (path below `agent/`, with `/`) and where it is. */
export interface DiscoveredModule {
  readonly source: string;
  readonly path: string;
}

export interface NamedModule extends DiscoveredModule {
  readonly name: string;
}

export interface DiscoveredNode {
  /** `root`, or the names below it: `root/reviewer`. */
  readonly id: string;
  readonly name: string;
  /** Folder of the node. */
  readonly dir: string;
  readonly agent?: DiscoveredModule;
  readonly instructions?: { readonly text: string } | DiscoveredModule;
  readonly tools: readonly NamedModule[];
  /** Subagents in a folder of their own; `id` is the node they run. */
  readonly locals: readonly { readonly name: string; readonly id: string; readonly dir: string }[];
  /** Subagents in one file: remote agents and peers. */
  readonly references: readonly NamedModule[];
  readonly channel?: DiscoveredModule;
  /** What is authored about its sandbox. */
  readonly sandbox?: DiscoveredSandbox;
}

export interface NodeLocation {
  readonly agentDir: string;
  readonly dir: string;
  readonly id: string;
  readonly name: string;
  readonly report: Report;
}

type Draft = { -readonly [K in keyof DiscoveredNode]: DiscoveredNode[K] } & {
  tools: NamedModule[];
  locals: { name: string; id: string; dir: string }[];
  references: NamedModule[];
};

const LATER = new Set(["skills", "connections", "hooks", "extensions"]);
const ROOT_ONLY = new Set(["channels", "schedules"]);
const FOLDERS = ["tools/", "subagents/", "sandbox/", "lib/", "channels/"];
const FILES = ["agent.ts", "instructions.md", "instructions.ts", "sandbox.ts"];
const SLOTS =
  "agent.ts, instructions.md, instructions.ts, tools/<name>.ts, subagents/<name>/, subagents/<name>.ts, sandbox.ts, sandbox/, lib/";

/** Reads one node and, below it, every subagent that has a folder (contract §3). */
export function discoverNode(at: NodeLocation): DiscoveredNode[] {
  const draft: Draft = { id: at.id, name: at.name, dir: at.dir, tools: [], locals: [], references: [] };
  for (const entry of readFolder(at.dir)) readSlot(draft, entry, at);
  if (at.id !== "root" && draft.agent === undefined) {
    at.report(
      "AGENT_MISSING",
      at.dir,
      1,
      `The subagent "${at.name}" has no agent.ts.`,
      "Add agent.ts with a description, or remove the folder.",
    );
  }
  const nested = draft.locals.flatMap((local) => discoverNode({ ...at, ...local }));
  return [draft, ...nested];
}

function readSlot(draft: Draft, entry: Entry, at: NodeLocation): void {
  const slot = entry.folder ? entry.name : entry.name.replace(/\.(?:ts|md)$/, "");
  if (entry.folder && slot === "lib") return;
  if (entry.folder && slot === "tools") return readTools(draft, entry, at);
  if (entry.folder && slot === "subagents") return readSubagents(draft, entry, at);
  if (entry.folder && ROOT_ONLY.has(slot) && at.id !== "root") {
    const message = `${slot}/ belongs to the root agent; a subagent has none.`;
    return at.report("SLOT_ROOT_ONLY", entry.path, 1, message, `Move it to agent/${slot}/ or remove it.`);
  }
  if (entry.folder && slot === "channels") return readChannels(draft, entry, at);
  if (entry.folder && (LATER.has(slot) || ROOT_ONLY.has(slot))) return unsupported(entry, `${entry.name}/`, at);
  if (entry.name === "sandbox" || entry.name === "sandbox.ts") return readSandbox(draft, entry, at);
  if (!entry.folder && entry.name === "agent.ts") {
    draft.agent = toModule(entry, at);
  } else if (!entry.folder && slot === "instructions" && slot !== entry.name) {
    readInstructions(draft, entry, at);
  } else {
    const what = entry.folder ? `The folder ${entry.name}/` : `The file ${entry.name}`;
    const meant = near(entry.folder ? `${entry.name}/` : entry.name, entry.folder ? FOLDERS : FILES);
    const fix = meant
      ? `Rename it to ${meant}.`
      : `Rename or move it (plain code belongs in lib/); the slots are ${SLOTS}.`;
    at.report("SLOT_UNKNOWN", entry.path, 1, `${what} is no slot of an agent.`, fix);
  }
}

function readInstructions(draft: Draft, entry: Entry, at: NodeLocation): void {
  if (draft.instructions !== undefined) {
    return at.report(
      "SLOT_DUPLICATE",
      entry.path,
      1,
      "instructions.md and instructions.ts fill the same slot.",
      "Keep one of the two.",
    );
  }
  if (entry.name.endsWith(".ts")) {
    draft.instructions = toModule(entry, at);
    return;
  }
  const text = readFileSync(entry.path, "utf8").trim();
  if (text !== "") draft.instructions = { text };
  else
    at.report(
      "INSTRUCTIONS_EMPTY",
      entry.path,
      1,
      "The instructions are empty.",
      "Write the system prompt, or remove the file.",
    );
}

function readSandbox(draft: Draft, entry: Entry, at: NodeLocation): void {
  if (draft.sandbox !== undefined) {
    const message = "sandbox.ts and sandbox/ fill the same slot.";
    return at.report(
      "SLOT_DUPLICATE",
      entry.path,
      1,
      message,
      "Move sandbox.ts into sandbox/, or remove one of the two.",
    );
  }
  draft.sandbox = entry.folder
    ? discoverSandbox(entry, at, (file) => toModule(file, at))
    : { module: toModule(entry, at), seed: [] };
}

function readTools(draft: Draft, folder: Entry, at: NodeLocation): void {
  for (const entry of readFolder(folder.path)) {
    const name = moduleName(entry);
    if (name === undefined) misplaced(entry, "tools/ holds one <name>.ts for each tool", at);
    else if (isName("tool", name, entry, at)) draft.tools.push({ name, ...toModule(entry, at) });
  }
}

function readSubagents(draft: Draft, folder: Entry, at: NodeLocation): void {
  for (const entry of readFolder(folder.path)) {
    const name = entry.folder ? entry.name : moduleName(entry);
    if (name === undefined) {
      misplaced(entry, "subagents/ holds one folder or one <name>.ts for each subagent", at);
    } else if (isName("subagent", name, entry, at)) {
      if (entry.folder) draft.locals.push({ name, id: `${at.id}/${name}`, dir: entry.path });
      else if (!draft.locals.some((local) => local.name === name))
        draft.references.push({ name, ...toModule(entry, at) });
      else
        at.report(
          "SLOT_DUPLICATE",
          entry.path,
          1,
          `${name}.ts and ${name}/ both define the subagent "${name}".`,
          "Keep one of the two.",
        );
    }
  }
}

function readChannels(draft: Draft, folder: Entry, at: NodeLocation): void {
  for (const entry of readFolder(folder.path)) {
    const name = moduleName(entry);
    if (name === "eve") draft.channel = toModule(entry, at);
    else if (name === undefined) misplaced(entry, "channels/ holds one <name>.ts for each channel", at);
    else unsupported(entry, `The channel "${name}"`, at);
  }
}

function moduleName(entry: Entry): string | undefined {
  if (entry.folder || !entry.name.endsWith(".ts") || entry.name.endsWith(".d.ts")) return undefined;
  return entry.name.slice(0, -".ts".length);
}

function isName(kind: "tool" | "subagent", name: string, entry: Entry, at: NodeLocation): boolean {
  const problem = checkSlotName(kind, name);
  if (problem) at.report("NAME_INVALID", entry.path, 1, problem.message, problem.fix);
  return problem === undefined;
}

function misplaced(entry: Entry, rule: string, at: NodeLocation): void {
  at.report(
    "SLOT_UNKNOWN",
    entry.path,
    1,
    `${entry.name} does not belong here: ${rule}.`,
    "Rename it, move it to lib/, or remove it.",
  );
}

function unsupported(entry: Entry, what: string, at: NodeLocation): void {
  at.report("SLOT_UNSUPPORTED", entry.path, 1, `${what} is not supported by this version yet.`, "Remove it for now.");
}

function toModule(entry: Entry, at: NodeLocation): DiscoveredModule {
  return { source: relative(at.agentDir, entry.path).split(sep).join("/"), path: entry.path };
}
