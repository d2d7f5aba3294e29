import { defineTool } from "eve/tools";
import MiniSearch from "minisearch";
import { z } from "zod";
import { notes } from "../lib/notes.ts";

const index = new MiniSearch({
  idField: "title",
  fields: ["title", "text"],
  storeFields: ["title", "text"],
  searchOptions: { boost: { title: 3 }, prefix: true, fuzzy: 0.2 },
});
index.addAll(notes);

/** Part of the best score that a note needs: one that only mentions a word of the question is no answer to it. */
const RELEVANT = 0.5;

export default defineTool({
  description: "Searches the notes and returns the best ones, most relevant first.",
  inputSchema: z.object({
    query: z.string().min(1).describe("A few words to search for."),
    limit: z.number().int().min(1).max(5).default(3).describe("How many notes to return."),
  }),
  execute: ({ query, limit }) => {
    const found = index.search(query);
    const least = (found[0]?.score ?? 0) * RELEVANT;
    const relevant = found.filter(({ score }) => score >= least).slice(0, limit);
    return { notes: relevant.map(({ title, text }) => ({ title: String(title), text: String(text) })) };
  },
});
