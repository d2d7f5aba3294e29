import { defineTool } from "eve/tools";
import { z } from "zod";

export default defineTool({
  description:
    "Estimates how hard an English text is to read (automated readability index, roughly a US school grade).",
  inputSchema: z.object({
    text: z.string().min(1).describe("The text to score."),
  }),
  execute: ({ text }) => {
    const words = text.match(/[\p{L}\p{N}][\p{L}\p{N}'’-]*/gu) ?? [];
    const sentences = text.split(/[.!?]+(?:\s|$)/).filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));
    if (words.length === 0) return { words: 0, sentences: 0, index: null };

    const characters = words.reduce((sum, word) => sum + word.length, 0);
    const index = 4.71 * (characters / words.length) + 0.5 * (words.length / sentences.length) - 21.43;
    return {
      words: words.length,
      sentences: sentences.length,
      index: Math.round(index * 10) / 10,
    };
  },
});
