import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { toConversation } from "./conversation.ts";

const run = promisify(execFile);

test("the first conversation can be pasted into a shell as it is", async () => {
  const requests: string[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    requests.push(`${request.method} ${request.url} ${body}`);
    if (request.method === "POST") response.writeHead(202).end(`{"ok":true,"sessionId":"ses_1","status":"accepted"}`);
    else response.end(`\n{"type":"turn.started"}\n{"type":"message.completed","data":{"message":"Hi."}}\n`);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/eve/a/v1`;

  const lines = toConversation("a", url);
  const commands = lines.filter((line) => line.startsWith("  "));
  const { stdout } = await run("bash", ["-c", commands.join("\n")]);

  expect(requests).toEqual([
    `POST /eve/a/v1/session {"message":"What can you do?"}`,
    "GET /eve/a/v1/session/ses_1/stream ",
  ]);
  expect(stdout).toBe(`{"type":"message.completed","data":{"message":"Hi."}}\n`);
  expect(lines.join("\n")).toContain("Ctrl-C");
});
