import { defineTool } from "eve/tools";
import { z } from "zod";

export default defineTool({
  description: "Counts the words and characters of a text. Use it when a length was asked for.",
  inputSchema: z.object({
    text: z.string().describe("The text to count."),
  }),
  execute: ({ text }) => ({
    words: text.split(/\s+/).filter((word) => word !== "").length,
    characters: text.length,
  }),
});
