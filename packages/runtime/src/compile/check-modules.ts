import type { DiscoveredModule, DiscoveredNode, Report } from "../discover/index.ts";
import { ROOT_AGENT } from "../protocol/manifest.ts";
import type { DefinitionSummary, Outcome } from "./evaluate/evaluation.ts";
import { authoredFrame, lineOfDefaultExport, lineOfOption, readSource } from "./locate.ts";

type Kind = DefinitionSummary["kind"];

export interface SlotModule extends DiscoveredModule {
  /** What a file of this slot may define. */
  readonly kinds: readonly Kind[];
  readonly expected: string;
}

/** Every module of the nodes, with what its slot asks for. A default that several nodes have is there once. */
export function modulesOf(nodes: readonly DiscoveredNode[]): SlotModule[] {
  return [...new Map(nodes.flatMap(modulesOfNode).map((module) => [module.source, module])).values()];
}

function modulesOfNode(node: DiscoveredNode): SlotModule[] {
  return [
    ...(node.agent ? [{ ...node.agent, kinds: ["agent"] as const, expected: "defineAgent(…)" }] : []),
    ...(node.instructions && "source" in node.instructions
      ? [
          {
            ...node.instructions,
            kinds: ["instructions", "text"] as const,
            expected: "defineInstructions(…) or a string",
          },
        ]
      : []),
    ...node.tools.map((tool) => ({
      ...tool,
      kinds:
        tool.name === ROOT_AGENT
          ? (["tool", "disabled-tool", "root-agent"] as const)
          : (["tool", "disabled-tool"] as const),
      expected: "defineTool(…) or disableTool()",
    })),
    ...node.references.map((reference) => ({
      ...reference,
      kinds: ["remote-agent", "workspace-agent"] as const,
      expected: "defineWorkspaceAgent(…) or defineRemoteAgent(…)",
    })),
    ...(node.sandbox?.module
      ? [{ ...node.sandbox.module, kinds: ["sandbox"] as const, expected: "defineSandbox(…)" }]
      : []),
    ...(node.channel ? [{ ...node.channel, kinds: ["channel"] as const, expected: "eveChannel(…)" }] : []),
  ];
}

/** The definitions that are what their slot asks for, by module; the others are reported. */
export function checkModules(
  memberDir: string,
  modules: readonly SlotModule[],
  outcomes: ReadonlyMap<string, Outcome>,
  report: Report,
): Map<string, DefinitionSummary> {
  const definitions = new Map<string, DefinitionSummary>();
  for (const module of modules) {
    const outcome = outcomes.get(module.source);
    if (outcome === undefined) continue; // Not bundled, so reported already.
    if (outcome.status !== "loaded") reportFailure(memberDir, module, outcome, report);
    else if (isSound(module, outcome.definition, report)) definitions.set(module.source, outcome.definition);
  }
  return definitions;
}

function reportFailure(
  memberDir: string,
  module: SlotModule,
  outcome: Exclude<Outcome, { status: "loaded" }>,
  report: Report,
): void {
  const line = lineOfDefaultExport(readSource(module.path));
  switch (outcome.status) {
    case "no-default": {
      const found = outcome.names.length === 0 ? "" : ` (it exports ${outcome.names.join(", ")})`;
      const message = `This file has no default export${found}.`;
      return report("EXPORT_MISSING", module.path, 1, message, `Add \`export default\` with ${module.expected}.`);
    }
    case "timeout": {
      const fix = "Do not wait at the top level of a module for something that may never come.";
      return report("MODULE_TIMEOUT", module.path, line, "This module did not finish loading in time.", fix);
    }
    case "threw": {
      const frame = authoredFrame(memberDir, outcome.stack) ?? { path: module.path, line };
      if (outcome.option !== undefined) {
        const at = lineOfOption(readSource(frame.path), outcome.option, frame.line);
        return report("OPTION_INVALID", frame.path, at, outcome.message, outcome.fix ?? "Correct the option.");
      }
      const fix = outcome.fix ?? "Make the file load without an error; do work inside functions, not at the top level.";
      return report("MODULE_THREW", frame.path, frame.line, `Loading this file failed: ${outcome.message}`, fix);
    }
  }
}

function isSound(module: SlotModule, definition: DefinitionSummary, report: Report): boolean {
  const text = readSource(module.path);
  if (!module.kinds.includes(definition.kind)) {
    const found = definition.kind === "unknown" ? definition.found : FOUND[definition.kind];
    const message = `The default export is ${found}, but this slot takes ${module.expected}.`;
    report(
      "EXPORT_KIND",
      module.path,
      lineOfDefaultExport(text),
      message,
      `Export ${module.expected}, or move the file to its own slot.`,
    );
    return false;
  }
  if (definition.kind === "text" && definition.text.trim() === "") {
    const fix = "Write the system prompt, or remove the file.";
    report("INSTRUCTIONS_EMPTY", module.path, lineOfDefaultExport(text), "The instructions are empty.", fix);
    return false;
  }
  if (definition.kind !== "tool") return true;

  const { inputSchema } = definition;
  const line = (option: string): number => lineOfOption(text, option);
  if (typeof inputSchema === "string") {
    const message = `inputSchema can not be given to a model: ${inputSchema}.`;
    report(
      "SCHEMA_INVALID",
      module.path,
      line("inputSchema"),
      message,
      "Use z.object({ … }) of Zod 4 with fields that JSON can hold.",
    );
  }
  return typeof inputSchema !== "string";
}

const FOUND: Readonly<Record<Exclude<Kind, "unknown">, string>> = {
  agent: "defineAgent(…)",
  tool: "defineTool(…)",
  "disabled-tool": "disableTool()",
  "root-agent": "the tool of eve/tools/agent",
  "remote-agent": "defineRemoteAgent(…)",
  "workspace-agent": "defineWorkspaceAgent(…)",
  instructions: "defineInstructions(…)",
  text: "a string",
  sandbox: "defineSandbox(…)",
  channel: "eveChannel(…)",
};
