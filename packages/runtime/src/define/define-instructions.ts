import { AgentError } from "../errors.ts";
import { brand } from "./brand.ts";

export interface InstructionsDefinition {
  readonly text: string;
}

/**
 * Defines the system prompt in `agent/instructions.ts`; a plain text can live in `instructions.md` instead.
 *
 * @throws AgentError `CONFIG_INVALID` when the text is empty.
 * @example
 * export default defineInstructions(`You lead a team. Today you serve ${team}.`);
 */
export function defineInstructions(text: string): InstructionsDefinition {
  if (typeof text !== "string" || text.trim() === "") {
    throw new AgentError("CONFIG_INVALID", "defineInstructions takes a non-empty string.", {
      fix: "Pass the text of the system prompt, or remove the file.",
    });
  }
  return brand("instructions", { text });
}
