import type { ToolFacts } from "./plan.ts";

/** Said once in every reply; taken out of what children say, so that it is not repeated. */
export const OFFLINE_NOTICE = "This is the offline model: no model key is set.";

export interface Outcome {
  readonly name: string;
  readonly status: "completed" | "failed" | "cancelled" | "lost" | "skipped";
  readonly text: string;
}

export function stripNotice(text: string): string {
  return text.replaceAll(OFFLINE_NOTICE, "").trim();
}

/**
 * The final reply of a turn that made calls: every outcome, each with the name of who is behind it. An agent that was
 * asked passes a single result on as it is: how it came by it is no part of the answer.
 */
export function composeOutcomes(outcomes: readonly Outcome[], delegated: boolean): string {
  const [only] = outcomes;
  if (delegated && outcomes.length === 1 && only?.status === "completed" && only.text !== "") {
    return `${OFFLINE_NOTICE}\n\n${only.text}`;
  }
  return [OFFLINE_NOTICE, ...outcomes.map(describeOutcome)].join("\n\n");
}

/** The reply to a message that no tool can serve: what it says and holds, and nothing that was not looked at. */
export function composeDirect(message: string, delegated: boolean, tools: readonly ToolFacts[]): string {
  const { request, subject } = splitSubject(message);
  const said =
    message === ""
      ? "The message holds no text."
      : subject === ""
        ? `The message is “${clip(request)}” (${countFacts(request)}), and I can only follow instructions, not answer from knowledge.`
        : `I was asked to “${clip(request)}”. The text has ${countFacts(subject)}: “${clip(subject)}”. Whether it is true I can not judge.`;
  return [OFFLINE_NOTICE, said, delegated ? "" : describeTools(tools)].filter((part) => part !== "").join(" ");
}

function describeOutcome({ name, status, text }: Outcome): string {
  switch (status) {
    case "completed":
      return `${name}: ${text === "" ? "(an empty result)" : text}`;
    case "failed":
      return `${name} failed: ${text === "" ? "no reason was given" : text}`;
    case "cancelled":
      return `${name} was cancelled${text === "" ? "." : `: ${text}`}`;
    case "lost":
      return `${name}: no result came back.`;
    case "skipped":
      return `${name} was not asked: ${text}.`;
  }
}

function describeTools(tools: readonly ToolFacts[]): string {
  const list = (agents: boolean): string =>
    tools
      .filter((tool) => tool.isAgent === agents && !tool.name.startsWith("eve__"))
      .map((tool) => tool.name)
      .join(", ");
  const parts = [list(true) && `ask ${list(true)}`, list(false) && `use ${list(false)}`].filter((part) => part !== "");
  return parts.length === 0 ? "" : `Name one in a message and I ${parts.join(", or ")}.`;
}

/** `check it:` and a line break, or quotes, set off the text that a message is about. */
function splitSubject(message: string): { request: string; subject: string } {
  const block = /^([^\n]*?):[ \t]*\n+([\s\S]+)$/.exec(message);
  if (block !== null) return { request: block[1] ?? "", subject: (block[2] ?? "").trim() };
  const quoted = message.length > 2_000 ? null : /^(.*?)[:\s]*(?:"([^"]+)"|“([^”]+)”)[.!?]?\s*$/s.exec(message);
  const request = quoted?.[1]?.trim() ?? "";
  return request === "" ? { request: message, subject: "" } : { request, subject: quoted?.[2] ?? quoted?.[3] ?? "" };
}

function countFacts(text: string): string {
  const words = text.split(/\s+/).filter((word) => word !== "").length;
  const sentences = Math.max(1, text.match(/[.!?](?=\s|$)/g)?.length ?? 0);
  return `${words} ${words === 1 ? "word" : "words"} in ${sentences} ${sentences === 1 ? "sentence" : "sentences"}`;
}

function clip(text: string): string {
  const flat = text.replace(/\s+/g, " ").trim();
  return flat.length <= 600 ? flat : `${flat.slice(0, 599)}…`;
}
