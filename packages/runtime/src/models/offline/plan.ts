import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { readInstruction, refersBack } from "./clauses.ts";
import { buildInput, canFill, requiredStrings } from "./tool-input.ts";

export interface ToolFacts {
  readonly name: string;
  readonly description: string;
  readonly schema: unknown;
  /** Agent tools take exactly `message` and `taskId` (§5.1). */
  readonly isAgent: boolean;
}

/** One call that a message asks for. */
export interface PlannedCall {
  readonly tool: ToolFacts;
  readonly request: string;
  /** Text of the message itself that the request speaks of. */
  readonly material: string;
  readonly taskId?: string;
  /** Indexes of earlier calls of the same message whose results the request speaks of. */
  readonly needs: readonly number[];
  /** The request speaks of something that its own message does not hold. */
  readonly dangling: boolean;
}

export interface Finding {
  readonly name: string;
  readonly text: string;
}

export function toToolFacts(options: Pick<LanguageModelV4CallOptions, "tools" | "toolChoice">): readonly ToolFacts[] {
  if (options.toolChoice?.type === "none") return [];
  return (options.tools ?? []).flatMap((tool) =>
    tool.type !== "function"
      ? []
      : [
          {
            name: tool.name,
            description: tool.description ?? "",
            schema: tool.inputSchema,
            isAgent: isAgentSchema(tool.inputSchema),
          },
        ],
  );
}

/** The calls a message asks for, in its order. A message that names nobody may still fit a plain tool. */
export function planCalls(message: string, tools: readonly ToolFacts[]): readonly PlannedCall[] {
  const { preamble, payload, clauses } = readInstruction(
    message,
    tools.map((tool) => tool.name),
  );
  if (clauses.length === 0) return planUnnamed(preamble, payload, tools);

  const calls: PlannedCall[] = [];
  clauses.forEach(({ names, request }, at) => {
    const back = refersBack(request);
    const needs = back ? calls.map((_, index) => index) : [];
    const handed = at === clauses.length - 1 || back ? payload : "";
    const material = [back && needs.length === 0 ? preamble : "", handed].filter((text) => text !== "").join("\n\n");
    for (const { name, taskId } of names) {
      const tool = tools.find((one) => one.name === name);
      if (tool === undefined) continue;
      const dangling = back && needs.length === 0 && material === "";
      const call = { tool, request, material, needs, dangling, ...(taskId === undefined ? {} : { taskId }) };
      if (!calls.some((other) => isSame(other, call))) calls.push(call);
    }
  });
  return calls;
}

/** The input of a planned call, given the results that it waited for. */
export function inputOf(call: PlannedCall, findings: readonly Finding[]): Record<string, unknown> {
  const material = [call.material, joinFindings(findings)].filter((text) => text !== "").join("\n\n");
  if (call.tool.isAgent) {
    const message = material === "" ? call.request : `${call.request.replace(/[.,;:?!\s]+$/, "")}:\n\n${material}`;
    return { message, ...(call.taskId === undefined ? {} : { taskId: call.taskId }) };
  }
  const clause = findings.length === 0 ? call.request : withValues(call.request, findings);
  return buildInput(call.tool.schema, { text: material === "" ? call.request : material, clause });
}

/** A single finding as it is, several with the name of who found each. */
export function joinFindings(findings: readonly Finding[]): string {
  const [only] = findings;
  if (findings.length === 1 && only !== undefined) return only.text;
  return findings.map(({ name, text }) => `${name}: ${text}`).join("\n\n");
}

/**
 * A tool that the message does not name: one that shares a word with it, or the lone one of a specialist that takes
 * any text. An agent that leads others is no specialist; its own root copy is none of those.
 */
function planUnnamed(request: string, payload: string, tools: readonly ToolFacts[]): readonly PlannedCall[] {
  const plain = tools.filter((tool) => !tool.isAgent && !tool.name.startsWith("eve__") && !OF_SANDBOX.has(tool.name));
  if (request === "") return [];
  const asked = stems(request);
  const source = { text: payload === "" ? request : payload, clause: request };
  const fitting = plain
    .map((tool) => ({ tool, score: 2 * shared(asked, stems(tool.name)) + shared(asked, stems(tool.description)) }))
    .filter(({ tool, score }) => score > 0 && canFill(tool.schema, source))
    .sort((a, b) => b.score - a.score)[0]?.tool;
  const [lone] = plain;
  const leads = tools.some((tool) => tool.isAgent && tool.name !== "agent");
  const tool =
    fitting ??
    (!leads &&
    plain.length === 1 &&
    lone !== undefined &&
    requiredStrings(lone.schema).length === 1 &&
    canFill(lone.schema, source)
      ? lone
      : undefined);
  if (tool === undefined) return [];
  return [
    { tool, request: request.replace(/[.?!\s]+$/, "") || request, material: payload, needs: [], dangling: false },
  ];
}

/** `multiply it by 4` → `multiply 5 by 4`, so that numbers are found in the order they are spoken of. */
function withValues(request: string, findings: readonly Finding[]): string {
  const values = findings.map((finding) => finding.text).join(" ");
  const replaced = request.replace(
    /\b(?:it|them|this|that|these|those|the (?:answers?|results?|outputs?))\b/i,
    () => values,
  );
  return replaced === request ? `${request} ${values}` : replaced;
}

function isAgentSchema(schema: unknown): boolean {
  const properties = (schema as { properties?: unknown } | null | undefined)?.properties;
  return (
    typeof properties === "object" && properties !== null && Object.keys(properties).sort().join() === "message,taskId"
  );
}

function isSame(one: PlannedCall, other: PlannedCall): boolean {
  return (
    one.tool.name === other.tool.name &&
    one.request === other.request &&
    one.taskId === other.taskId &&
    one.material === other.material &&
    one.needs.join() === other.needs.join()
  );
}

/** Every agent has them, so they say nothing of what this one is for: only a message that names one means it. */
const OF_SANDBOX: ReadonlySet<string> = new Set(["bash", "read_file", "write_file", "glob", "grep"]);

/** Words that say nothing about what a tool is for. */
const COMMON: ReadonlySet<string> = new Set(
  (
    "about after again agent all also and answer any anything are ask been before being but call can could did does done for from get give " +
    "given had has have hello help her here him his how into its just know let like look make may message more most much need new not " +
    "off one only other our out own per please said say says see she should show some such take tell text than thank thanks that the " +
    "their them then there these they thing this those too tool two use user via want was what when where which while who why will " +
    "with without word would write yes yet you your"
  ).split(" "),
);

/** Words of three letters and more, cut to a rough stem: `counts` and `counting` meet at `count`. */
function stems(text: string): ReadonlySet<string> {
  const words = (text.toLowerCase().match(/\p{L}{3,}/gu) ?? []).filter((word) => !COMMON.has(word));
  return new Set(words.map((word) => word.replace(/(?:ing|ers?|ed|es|s|e)$/, "")).filter((stem) => stem.length > 2));
}

function shared(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let count = 0;
  for (const stem of one) if (other.has(stem)) count++;
  return count;
}
