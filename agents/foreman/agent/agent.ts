import { defineAgent } from "eve";

export default defineAgent({
  description: "Leads a small team: takes a request, looks things up, writes, and has its texts reviewed.",
  model: "anthropic/claude-opus-5.5",
});
