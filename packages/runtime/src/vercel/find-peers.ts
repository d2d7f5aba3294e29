import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { AgentError } from "../errors.ts";
import { tokenize, type Token } from "./tokenize.ts";

/**
 * The peers a member declares, sorted, found in the text of `agent/subagents/**` without running it: the platform
 * evaluates the workspace's configuration again for every request of `vercel dev`.
 *
 * @throws AgentError `CONFIG_INVALID` when a peer's name is not a plain string.
 */
export function findPeers(root: string, member: string): string[] {
  const peers = new Set<string>();
  const folder = `agents/${member}/agent/subagents`;
  for (const path of sourceFiles(root, folder)) {
    const source = readFileSync(join(root, path), "utf8");
    if (!source.includes(HELPER)) continue;
    for (const name of peersIn(source, path)) peers.add(name);
  }
  return [...peers].sort();
}

const HELPER = "defineWorkspaceAgent";

/** The `name` of every `defineWorkspaceAgent({ … })` in one file; `path` is for the message. */
export function peersIn(source: string, path: string): string[] {
  const tokens = tokenize(source);
  const names = helperNames(tokens);
  const peers: string[] = [];
  tokens.forEach((token, index) => {
    if (token.kind !== "word" || !names.has(token.value) || tokens[index + 1]?.value !== "(") return;
    const name = nameOption(tokens, index + 2);
    if (name !== undefined) peers.push(name);
    else throw dynamicName(path, token.line);
  });
  return peers;
}

/** The helper itself, and what `import { defineWorkspaceAgent as x }` calls it. */
function helperNames(tokens: readonly Token[]): Set<string> {
  const names = new Set([HELPER]);
  tokens.forEach((token, index) => {
    if (token.value === HELPER && tokens[index + 1]?.value === "as") names.add(tokens[index + 2]?.value ?? HELPER);
  });
  return names;
}

/** The literal value of `name` in the object that starts at `at`, or `undefined` when there is none. */
function nameOption(tokens: readonly Token[], at: number): string | undefined {
  if (tokens[at]?.value !== "{") return undefined;
  let depth = 0;
  for (let index = at; index < tokens.length; index++) {
    const { kind, value } = tokens[index]!;
    if (kind === "punctuation" && "{[(".includes(value)) depth++;
    if (kind === "punctuation" && "}])".includes(value) && --depth === 0) return undefined;
    const isKey = depth === 1 && value === "name" && /^[{,]$/.test(tokens[index - 1]!.value);
    if (!isKey || tokens[index + 1]?.value !== ":") continue;
    const literal = tokens[index + 2];
    const end = tokens.slice(index + 3, index + 5).map((token) => token.value);
    const isWhole = end[0] === "," || end[0] === "}" || (end[0] === "as" && end[1] === "const");
    return literal?.kind === "string" && isWhole ? literal.value : undefined;
  }
  return undefined;
}

function dynamicName(path: string, line: number): AgentError {
  return new AgentError("CONFIG_INVALID", `${path}:${line} does not name its peer as a plain string.`, {
    fix: `Write the folder of the peer out, as in ${HELPER}({ name: "research" }).`,
    data: { path, line },
  });
}

function sourceFiles(root: string, folder: string): string[] {
  let entries;
  try {
    entries = readdirSync(join(root, folder), { withFileTypes: true });
  } catch {
    return [];
  }
  return entries.flatMap((entry) => {
    if (entry.name.startsWith(".") || entry.name === "node_modules") return [];
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return sourceFiles(root, path);
    return entry.name.endsWith(".ts") && !/\.(test|spec|test-d|d)\.ts$/.test(entry.name) ? [path] : [];
  });
}
