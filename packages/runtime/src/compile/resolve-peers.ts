import { join, resolve } from "node:path";
import type { Metafile } from "esbuild";
import {
  discoverMember,
  relativeTo,
  type Diagnostic,
  type DiscoveredMember,
  type DiscoveredNode,
  type NamedModule,
  type Report,
  type Workspace,
  type WorkspaceMember,
} from "../discover/index.ts";
import { bundleMember } from "./bundle/bundle-member.ts";
import { isAuthored } from "./bundle/declared-dependencies.ts";
import { checkModules, modulesOf } from "./check-modules.ts";
import { closest } from "../define/closest.ts";
import type { Evaluator } from "./evaluate/create-evaluator.ts";
import type { DefinitionSummary } from "./evaluate/evaluation.ts";
import { lineOfOption, readSource } from "./locate.ts";
import { writeFiles } from "./output-folder.ts";

export interface PeerContext {
  readonly member: DiscoveredMember;
  readonly workspace: Workspace | undefined;
  readonly base: string;
  readonly evaluator: Evaluator;
  /** Folder for bundles of the peers' own definitions; removed after the build. */
  readonly scratchDir: string;
  readonly report: Report;
  readonly diagnostics: Diagnostic[];
  /** Told of every file of a peer that a description depends on. */
  readonly onRead: (path: string) => void;
}

interface PeerReference extends NamedModule {
  readonly peer: string;
  readonly described: boolean;
}

/**
 * Checks that every peer is exactly one other member (contract §2.5) and reads the description of those that the
 * caller does not describe itself (contract §10.4).
 *
 * @returns description by name of peer; a peer that has none is reported and left out.
 */
export async function resolvePeers(
  nodes: readonly DiscoveredNode[],
  definitions: ReadonlyMap<string, DefinitionSummary>,
  context: PeerContext,
): Promise<ReadonlyMap<string, string>> {
  const references = nodes
    .flatMap((node) => node.references)
    .flatMap((reference) => {
      const definition = definitions.get(reference.source);
      if (definition?.kind !== "workspace-agent") return [];
      return [{ ...reference, peer: definition.peer, described: definition.description !== undefined }];
    });

  const descriptions = new Map<string, string>();
  const unread = new Map<string, PeerReference[]>();
  for (const reference of references) {
    if (!isKnown(reference, context) || reference.described) continue;
    unread.set(reference.peer, [...(unread.get(reference.peer) ?? []), reference]);
  }
  for (const [peer, callers] of unread) {
    const description = await readDescription(peerNamed(peer, context)!, callers, context);
    if (description !== undefined) descriptions.set(peer, description);
  }
  return descriptions;
}

function isKnown(reference: PeerReference, context: PeerContext): boolean {
  const { member, workspace, report } = context;
  const line = lineOfOption(readSource(reference.path), "name");
  if (reference.peer === member.name) {
    const message = `"${reference.peer}" is this member itself.`;
    report("PEER_SELF", reference.path, line, message, "Name another member, or make it a local subagent.");
    return false;
  }
  if (peerNamed(reference.peer, context)) return true;

  const known = (workspace?.members ?? []).map(({ name }) => name).filter((name) => name !== member.name);
  const fix =
    known.length === 0
      ? "Add the member under agents/ of the workspace, or remove this file; there is no other member here."
      : `Name one of the members (${known.join(", ")}); did you mean "${closest(reference.peer, known)}"?`;
  report("PEER_UNKNOWN", reference.path, line, `No member is named "${reference.peer}".`, fix);
  return false;
}

function peerNamed(name: string, { workspace }: PeerContext): WorkspaceMember | undefined {
  return workspace?.members.find((member) => member.name === name);
}

/** Bundles and evaluates the `agent.ts` of a peer, and nothing else of it. */
async function readDescription(
  peer: WorkspaceMember,
  callers: readonly PeerReference[],
  context: PeerContext,
): Promise<string | undefined> {
  const { base, evaluator, report, scratchDir, workspace } = context;
  const member = discoverMember({ memberDir: peer.dir, base });
  const agent = member.nodes[0]?.agent;
  context.onRead(agent?.path ?? join(peer.dir, "agent/agent.ts"));
  if (agent !== undefined) {
    const outDir = join(scratchDir, peer.name);
    const { bundle, diagnostics } = await bundleMember([agent], {
      member,
      outDir,
      root: workspace!.root,
      base,
      entries: ["loaders"],
    });
    context.diagnostics.push(...diagnostics);
    if (!bundle) return undefined;
    for (const path of authoredInputs(bundle.metafile, workspace!.root, peer.dir)) context.onRead(path);

    writeFiles(outDir, bundle.files);
    const outcomes = await evaluator.evaluate(join(outDir, "loaders.mjs"), [agent.source]);
    const modules = modulesOf(member.nodes).filter((module) => module.source === agent.source);
    const definition = checkModules(peer.dir, modules, outcomes, report).get(agent.source);
    if (definition?.kind !== "agent") return undefined;
    if (definition.description !== undefined) return definition.description;
  }
  const where = relativeTo(base, agent?.path ?? join(peer.dir, "agent/agent.ts"));
  for (const caller of callers) {
    const message = `The peer "${peer.name}" has no description, and this file gives none.`;
    const line = lineOfOption(readSource(caller.path), "name");
    report("DESCRIPTION_MISSING", caller.path, line, message, `Set \`description\` here or in ${where}.`);
  }
  return undefined;
}

function authoredInputs({ inputs }: Metafile, root: string, dir: string): string[] {
  return Object.keys(inputs)
    .map((input) => resolve(root, input))
    .filter((path) => isAuthored(dir, path));
}
