import { defineAgent } from "eve";

export default defineAgent({
  description: "Reviews a text for clarity and mistakes. Send it the whole text and say who will read it.",
  model: "anthropic/claude-opus-5.5",
});
