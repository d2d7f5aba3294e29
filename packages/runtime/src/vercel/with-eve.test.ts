import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { WorkspaceConfig } from "./config.ts";
import { withEve } from "./with-eve.ts";

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "with-eve-"));
  write("pnpm-workspace.yaml", "packages: [agents/*]");
  member("foreman", { "subagents/research.ts": `export default defineWorkspaceAgent({ name: "research" });` });
  member("research");
});

afterEach(() => rmSync(root, { recursive: true }));

describe("withEve", () => {
  it("composes a service and a route for every member", async () => {
    const config = await compose();
    expect(config.services).toEqual({
      foreman: {
        root: "agents/foreman",
        framework: "node",
        entrypoint: "package.json",
        outputDirectory: "dist",
        devCommand: expect.stringMatching(/^(exec )?eve dev$/),
        buildCommand: "eve build",
        bindings: [{ type: "service", service: "research", format: "url", env: "EVE_PEER_RESEARCH_URL" }],
      },
      research: expect.objectContaining({ root: "agents/research", bindings: [] }),
    });
    expect(config.routes).toEqual([
      { src: "^/eve/foreman(?:/.*)?$", destination: { type: "service", service: "foreman" } },
      { src: "^/eve/research(?:/.*)?$", destination: { type: "service", service: "research" } },
      { src: "^/(.*)$", status: 404 },
    ]);
  });

  it("writes nothing", async () => {
    const before = readdirSync(root, { recursive: true }).toSorted();
    await compose();
    expect(readdirSync(root, { recursive: true }).toSorted()).toEqual(before);
  });

  it("builds no member again that `pnpm build` has built", async () => {
    vi.stubEnv("EVE_MEMBERS_BUILT", "1");
    expect((await compose()).services!.foreman!.buildCommand).toBe("exit 0");
    vi.unstubAllEnvs();
  });

  it("is data only, so that it survives the way to the platform", async () => {
    const config = await compose({ crons: [{ path: "/x", schedule: "0 5 * * *" }] });
    expect(JSON.parse(JSON.stringify(config))).toEqual(config);
  });

  it("binds a peer whose name has digits to its derived service", async () => {
    member("gpt-4");
    member("caller", { "subagents/deep/subagents/x.ts": `defineWorkspaceAgent({ name: "gpt-4" })` });
    const { services } = await compose();
    expect(Object.keys(services!)).toContain("gpt-_e");
    expect(services!.caller!.bindings).toEqual([
      { type: "service", service: "gpt-_e", format: "url", env: "EVE_PEER_GPT_4_URL" },
    ]);
  });

  it("leaves an unknown peer, and the member itself, to the compiler", async () => {
    write("agents/research/agent/subagents/nobody.ts", `defineWorkspaceAgent({ name: "nobody" })`);
    write("agents/research/agent/subagents/self.ts", `defineWorkspaceAgent({ name: "research" })`);
    expect((await compose()).services!.research!.bindings).toEqual([]);
  });

  it("skips folders that are no members", async () => {
    mkdirSync(join(root, "agents/notes"));
    write("agents/README.md", "");
    expect(Object.keys((await compose()).services!)).toEqual(["foreman", "research"]);
  });

  it("keeps the services, crons and other settings of the user", async () => {
    const config = await compose({
      services: { web: { root: "web", framework: "nextjs" } },
      crons: [{ path: "/x", schedule: "0 5 * * *" }],
      regions: ["fra1"],
    });
    expect(config.services!.web).toEqual({ root: "web", framework: "nextjs" });
    expect(config).toMatchObject({ crons: [{ path: "/x", schedule: "0 5 * * *" }], regions: ["fra1"] });
  });

  it("puts no 404 behind a service that claims /", async () => {
    const route = { src: "^/(.*)$", destination: { type: "service" as const, service: "web" } };
    const { routes } = await compose({ services: { web: { root: "web" } }, routes: [route] });
    expect(routes!.at(-1)).toEqual(route);
    const rewritten = await compose({
      rewrites: [{ source: "/(.*)", destination: { type: "service", service: "web" } }],
    });
    expect(rewritten.routes!.at(-1)).toMatchObject({ destination: { type: "service", service: "web" } });
    expect(rewritten).not.toHaveProperty("rewrites");
  });

  it("keeps the 404 behind a service that claims less", async () => {
    const { routes } = await compose({
      routes: [{ src: "^/docs(?:/.*)?$", destination: { type: "service", service: "web" } }],
    });
    expect(routes!.at(-1)).toEqual({ src: "^/(.*)$", status: 404 });
  });

  it("applies redirects, headers and continue routes before the members", async () => {
    const { routes } = await compose({
      redirects: [{ source: "/old/:id", destination: "/new/:id" }],
      headers: [{ source: "/(.*)", headers: [{ key: "x-a", value: "b" }] }],
      routes: [{ src: "^/(.*)$", headers: { "x-c": "d" }, continue: true }],
    });
    expect(routes!.map((route) => [route.status, route.headers, typeof route.destination])).toEqual([
      [308, { Location: "/new/$1" }, "undefined"],
      [undefined, { "x-a": "b" }, "undefined"],
      [undefined, { "x-c": "d" }, "undefined"],
      [undefined, undefined, "object"],
      [undefined, undefined, "object"],
      [404, undefined, "undefined"],
    ]);
  });

  it("refuses to take the service of the user", async () => {
    await expect(compose({ services: { foreman: { root: "x" } } })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("agents/foreman"),
      fix: expect.stringContaining("Rename"),
    });
  });

  it("refuses a route of the user below a member's path", async () => {
    await expect(compose({ routes: [{ src: "^/eve/foreman/extra$", status: 204 }] })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
    });
    await expect(compose({ routes: [{ src: "^/eve/foremans$", status: 204 }] })).resolves.toBeDefined();
  });

  it.each([
    { redirects: [{ source: "/eve/foreman/:path*", destination: "/" }] },
    { redirects: [{ source: "/eve/foreman", destination: "/" }] },
    { rewrites: [{ source: "/eve/foreman/(.*)", destination: { type: "service", service: "web" } }] },
  ])("refuses %j, which would take a member's path", async (config) => {
    await expect(compose(config)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("agents/foreman"),
    });
  });

  it("lets headers of the user reach a member", async () => {
    const headers = [{ source: "/eve/foreman/(.*)", headers: [{ key: "x-a", value: "b" }] }];
    await expect(compose({ headers })).resolves.toBeDefined();
  });

  it("refuses names, workspaces without members, and rules that are not valid", async () => {
    await expect(compose({ redirects: [{ source: "/(", destination: "/" }] })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
    });
    await expect(withEve({}, { root: tmpdir() })).rejects.toThrow("no member");
    member("Big");
    await expect(compose()).rejects.toThrow('agents/Big: "Big" can not name a member');
  });
});

function compose(config: WorkspaceConfig = {}): Promise<WorkspaceConfig> {
  return withEve(config, { root });
}

function member(name: string, files: Record<string, string> = {}): void {
  for (const [path, text] of Object.entries({ "agent.ts": "", ...files })) write(`agents/${name}/agent/${path}`, text);
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}
