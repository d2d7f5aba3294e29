import { existsSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import type { Diagnostic } from "./diagnostic.ts";
import { discoverNode, type DiscoveredNode } from "./discover-node.ts";
import { checkMemberName } from "./names.ts";
import { isFolder } from "./read-folder.ts";
import { reportTo, type Report } from "./report.ts";

export interface DiscoveredMember {
  /** Folder name, which is the member's name. */
  readonly name: string;
  readonly dir: string;
  /** The root first, then its subagents, each before the ones nested in it. Empty when there is no `agent/`. */
  readonly nodes: readonly DiscoveredNode[];
  /** Packages that authored code may import; `undefined` when `package.json` can not be read. */
  readonly dependencies: ReadonlySet<string> | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

export interface DiscoverOptions {
  readonly memberDir: string;
  /** Folder that the paths of diagnostics are relative to. */
  readonly base: string;
}

/**
 * Reads the files of one member and says which slot each fills (contract §3). Runs no authored code and never
 * throws for what it finds: every problem is a diagnostic.
 */
export function discoverMember(options: DiscoverOptions): DiscoveredMember {
  const dir = resolve(options.memberDir);
  const name = basename(dir);
  const diagnostics: Diagnostic[] = [];
  const report = reportTo(diagnostics, options.base);

  const problem = checkMemberName(name);
  if (problem) report("NAME_INVALID", dir, 1, problem.message, problem.fix);
  const agentDir = join(dir, "agent");
  const dependencies = readDependencies(join(dir, "package.json"), report);
  if (!isFolder(agentDir)) {
    report(
      "AGENT_MISSING",
      dir,
      1,
      "This folder has no agent/ folder.",
      "Run this in a folder that holds agent/, or create it.",
    );
    return { name, dir, nodes: [], dependencies, diagnostics };
  }
  const nodes = discoverNode({ agentDir, dir: agentDir, id: "root", name, report });
  return { name, dir, nodes, dependencies, diagnostics };
}

function readDependencies(path: string, report: Report): Set<string> | undefined {
  if (!existsSync(path)) {
    report(
      "PACKAGE_INVALID",
      path,
      1,
      "A member needs its own package.json.",
      "Create it with a name and its dependencies, at least eve.",
    );
    return undefined;
  }
  try {
    const parsed = JSON.parse(readFileSync(path, "utf8")) as Partial<Record<string, object>>;
    return new Set(Object.keys({ ...parsed.dependencies, ...parsed.optionalDependencies }));
  } catch (error) {
    const { message } = error as Error;
    const line = Number(/\(line (\d+)/.exec(message)?.[1] ?? 1);
    report("PACKAGE_INVALID", path, line, `package.json can not be read: ${message}.`, "Repair the JSON.");
    return undefined;
  }
}
