"use client";

import { useState } from "react";

/** Opens a session with a member at the same origin and shows the reply while it streams. */
export default function Page() {
  const [reply, setReply] = useState("");
  const [state, setState] = useState("idle");

  async function ask() {
    setState("asking");
    const created = await fetch("/eve/foreman/v1/session", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ message: "Ask research what a tide is" }),
    });
    const { sessionId } = await created.json();
    const stream = await fetch(`/eve/foreman/v1/session/${sessionId}/stream`);
    for await (const event of eventsOf(stream)) {
      if (event.type === "message.appended") setReply((text) => text + event.data.messageDelta);
      if (event.type === "session.waiting") break;
    }
    setState("done");
  }

  return (
    <main>
      <h1>Beside the agents</h1>
      <button onClick={ask}>Ask</button>
      <p id="state">{state}</p>
      <pre id="reply">{reply}</pre>
    </main>
  );
}

async function* eventsOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      for (const line of lines) if (line.trim()) yield JSON.parse(line);
    }
  } finally {
    await reader.cancel();
  }
}
