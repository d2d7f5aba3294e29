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

export default defineTool({
  description: "Searches the notes and returns the best ones, most relevant first.",
  inputSchema: z.object({
    query: z.string().min(1).describe("A few words to search for."),
    limit: z.number().int().min(1).max(5).default(3).describe("How many notes to return."),
  }),
  execute: ({ query, limit }) => ({
    notes: index
      .search(query)
      .slice(0, limit)
      .map(({ title, text }) => ({ title: String(title), text: String(text) })),
  }),
});
