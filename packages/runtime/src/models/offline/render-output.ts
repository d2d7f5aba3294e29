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
      return {
        text: output.value
          .map((part) => (part.type === "text" ? part.text : ""))
          .join("\n")
          .trim(),
        failed: false,
      };
    default:
      return { text: renderValue((output as { value?: unknown }).value), failed: false };
  }
}

const TEXT_KEYS = ["text", "answer", "result", "summary", "content", "message", "reply", "output"];

/** Plain text for the usual shapes, JSON for the rest; nothing but the name of a lone property is left out. */
export function renderValue(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value)) return renderList(value);
  const entries = Object.entries(value);
  const [only] = entries;
  if (entries.length === 1 && only !== undefined) {
    return Array.isArray(only[1]) && only[1].length === 0 ? `no ${only[0]}` : renderValue(only[1]);
  }
  if (entries.length === 0 || !entries.every(([, entry]) => isPlain(entry))) return JSON.stringify(value);
  const text = entries.find(([name, entry]) => TEXT_KEYS.includes(name) && typeof entry === "string");
  const others = entries.filter((entry) => entry !== text).map(([name, entry]) => `${name}: ${String(entry)}`);
  return text === undefined ? others.join(", ") : `${String(text[1])} (${others.join(", ")})`;
}

function renderList(values: readonly unknown[]): string {
  if (values.length === 0) return "nothing";
  return values.map(renderValue).join(values.every(isPlain) ? ", " : "\n");
}

function errorMessage(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { message, error } = value as { message?: unknown; error?: unknown };
  if (typeof message === "string") return message;
  return typeof error === "string" ? error : errorMessage(error);
}

function isPlain(value: unknown): boolean {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}
