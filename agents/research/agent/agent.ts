import { defineAgent } from "eve";

export default defineAgent({
  description: "Looks up facts in a small collection of encyclopedia notes and answers with the notes it used.",
  model: "anthropic/claude-opus-5.5",
});
