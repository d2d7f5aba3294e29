/** Two commands for a shell that can be pasted as they are: say something to a member, and follow the answer. */
export function toConversation(name: string, base: string): string[] {
  const message =
    name === "foreman" ? "Ask research what a tide is, and let the reviewer check it" : "What can you do?";
  const post = `curl -s -X POST ${base}/session -H 'content-type: application/json' -d '${JSON.stringify({ message })}'`;
  return [
    "Say something, and wait for the answer (the session stays open: Ctrl-C ends the second command):",
    "",
    `  id=$(${post} | sed 's/.*"sessionId":"\\([^"]*\\)".*/\\1/')`,
    `  curl -sN ${base}/session/$id/stream | grep --line-buffered message.completed`,
    "",
    "Without `grep` it shows all that happens.",
    "",
  ];
}
