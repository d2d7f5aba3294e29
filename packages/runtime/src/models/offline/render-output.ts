import type { LanguageModelV4ToolResultOutput } from "@ai-sdk/provider";

/** The output of a tool as text, and whether it reports a failure. */
export function renderOutput(output: LanguageModelV4ToolResultOutput): { text: string; failed: boolean } {
  switch (output.type) {
    case "text":
      return { text: output.value, failed: false };
    case "json":
      return { text: renderValue(output.value), failed: false };
    case "error-text":
      return { text: output.value, failed: true };
    case "error-json":
      return { text: errorMessage(output.value) ?? renderValue(output.value), failed: true };
    case "execution-denied":
      return { text: output.reason ?? "the call was not approved", failed: true };
    case "content":
      return { text: output.value.map((part) => (part.type === "text" ? part.text : "")).join("\n").trim(), failed: false };
    default:
      return { text: renderValue((output as { value?: unknown }).value), failed: false };
  }
}

const TEXT_KEYS = ["text", "answer", "result", "summary", "content", "message", "reply", "output"];

/** Plain text for plain values, JSON for the rest; nothing is left out. */
export function renderValue(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  if (typeof value !== "object") return String(value);
  if (!Array.isArray(value)) {
    const entries = Object.entries(value);
    const [only] = entries;
    if (entries.length === 1 && only !== undefined && isPlain(only[1])) return String(only[1]);
    const key = TEXT_KEYS.find((name) => typeof (value as Record<string, unknown>)[name] === "string");
    if (key !== undefined && entries.every(([, entry]) => isPlain(entry))) {
      const others = entries.filter(([name]) => name !== key).map(([name, entry]) => `${name}: ${String(entry)}`);
      return `${String((value as Record<string, unknown>)[key])} (${others.join(", ")})`;
    }
  }
  return JSON.stringify(value);
}

function errorMessage(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { message, error } = value as { message?: unknown; error?: unknown };
  if (typeof message === "string") return message;
  return typeof error === "string" ? error : errorMessage(error);
}

function isPlain(value: unknown): boolean {
  return value !== null && ["string", "number", "boolean"].includes(typeof value);
}
