import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { converse, eventsOf, typesOf } from "./support/converse.ts";
import { copyWorkspace, startDev, type DevProcess } from "./support/dev-workspace.ts";
import { freePort } from "./support/free-port.ts";

// A service of the user that owns `/`. `pnpm test:next` does the same with a real Next.js app and a browser.
const FILES = {
  "web/package.json": `{ "name": "web", "private": true, "type": "module" }`,
  "web/server.mjs": `
import { createServer } from "node:http";
createServer((request, response) => {
  response.setHeader("content-type", "text/html");
  response.end("<h1>web " + request.url + "</h1>");
}).listen(Number(process.env.PORT), "127.0.0.1");
`,
  "vercel.ts": `
import { withEve } from "eve/vercel";

export default await withEve({
  services: { web: { root: "web", framework: "node", entrypoint: "server.mjs", devCommand: "node server.mjs" } },
  redirects: [{ source: "/old/:id", destination: "/new/:id" }],
  headers: [{ source: "/(.*)", headers: [{ key: "x-workspace", value: "mine" }] }],
  routes: [{ src: "^/gone$", status: 410 }],
  rewrites: [{ source: "/(.*)", destination: { type: "service", service: "web" } }],
  crons: [{ path: "/tick", schedule: "0 5 * * *" }],
});
`,
};

let workspace: ReturnType<typeof copyWorkspace>;
let dev: DevProcess;
let origin: string;

beforeAll(async () => {
  workspace = copyWorkspace();
  for (const [path, content] of Object.entries(FILES)) {
    mkdirSync(join(workspace.root, path, ".."), { recursive: true });
    writeFileSync(join(workspace.root, path), content);
  }
  dev = startDev(workspace.root, `127.0.0.1:${await freePort()}`);
  ({ origin } = await dev.ready);
});

afterAll(async () => {
  dev?.child.kill("SIGTERM");
  await dev?.exit;
  workspace?.[Symbol.dispose]();
});

describe("a web app that owns / beside the members, under the same `vercel dev`", () => {
  test.each(["/", "/deep/page?x=1", "/eve", "/eve/nobody/v1/health"])("it serves %s", async (path) => {
    const response = await fetch(origin + path);
    expect([response.status, await response.text()]).toEqual([200, `<h1>web ${path}</h1>`]);
  });

  test("members are served at the same origin, and stream", async () => {
    const api = `${origin}/eve/foreman/v1`;
    expect(await (await fetch(`${api}/health`)).json()).toMatchObject({ ok: true });
    const sessionId = await converse(api, "Ask research what a tide is");
    expect(typesOf(await eventsOf(api, sessionId)).at(-1)).toBe("session.waiting");
  });

  test("redirects and routes of the user hold", async () => {
    const moved = await fetch(`${origin}/old/7`, { redirect: "manual" });
    expect([moved.status, moved.headers.get("location")]).toEqual([308, "/new/7"]);
    expect((await fetch(`${origin}/gone`)).status).toBe(410);
  });

  test("the web app is no member", async () => {
    expect((await dev.ready).members.map(({ name }) => name)).toEqual(["foreman", "research"]);
  });
});
