import { describe, expect, test } from "vitest";
import { httpBasic, none, type Authenticator, type AuthRequest } from "../channels/auth.ts";
import { BASE, byHeader, createTestApp, hanging } from "./app.fixture.ts";

const basic = httpBasic({ username: "team", password: "secret" });
const credentials = (pair: string): { authorization: string } => ({ authorization: `Basic ${btoa(pair)}` });
const someone = (principalId: string) => ({
  authenticator: "t",
  principalId,
  principalType: "user" as const,
  attributes: {},
});

describe("§18.1 the inbound walk", () => {
  test("goes in order and stops at the first that accepts", async () => {
    const asked: string[] = [];
    const step =
      (name: string, accepts: boolean): Authenticator =>
      () => {
        asked.push(name);
        return accepts ? someone(name) : null;
      };
    const { app } = await createTestApp({
      perform: hanging,
      auth: [step("a", false), step("b", true), step("c", true)],
    });
    expect((await app.request(`${BASE}/info`)).status).toBe(200);
    expect(asked).toEqual(["a", "b"]);
  });

  test("the session belongs to whom the walk found", async () => {
    const { app, host } = await createTestApp({ perform: hanging, auth: [basic, none()] });
    const create = async (headers: HeadersInit): Promise<string> => {
      const response = await app.request(`${BASE}/session`, { method: "POST", headers });
      return (await response.json()).sessionId;
    };
    expect((await host.head(await create(credentials("team:secret"))))!.owner).toMatchObject({
      authenticator: "http-basic",
      principalId: "team",
    });
    expect((await host.head(await create({})))!.owner).toMatchObject({ principalType: "anonymous" });
  });

  test("nobody accepts: 401 with every challenge", async () => {
    const { app } = await createTestApp({ perform: hanging, auth: [basic, byHeader] });
    const response = await app.request(`${BASE}/session`, { method: "POST" });
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe('Basic realm="agent", charset="UTF-8", Name realm="test"');
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(await response.json()).toEqual({
      ok: false,
      code: "UNAUTHORIZED",
      // A caller may be another member, whose reader has to know which one refused.
      error: expect.stringMatching(/^agents\/lead does not accept .* agents\/lead\/agent\/channels\/eve\.ts .*docs\//),
    });
  });

  test("nobody accepts: what an authenticator knows of the reason is the repair", async () => {
    const closed: Authenticator = Object.assign(() => null, {
      hint: ({ method }: AuthRequest) => `Knock before you ${method}.`,
    });
    const { app } = await createTestApp({ perform: hanging, auth: [closed, basic] });
    const response = await app.request(`${BASE}/info`);
    expect(response.status).toBe(401);
    expect((await response.json()).error).toBe("agents/lead does not accept this caller. Knock before you GET.");
  });

  test("an empty walk is closed", async () => {
    const { app } = await createTestApp({ perform: hanging, auth: [] });
    const response = await app.request(`${BASE}/info`);
    expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
  });

  const closed = [
    ["GET", "/info"],
    ["POST", "/session"],
    ["POST", "/session/ses_x"],
    ["POST", "/session/ses_x/cancel"],
    ["POST", "/session/ses_x/reset"],
    ["GET", "/session/ses_x/stream"],
    ["GET", "/session/ses_x/subagents/c/s/stream"],
  ] as const;
  test.each(closed)("%s %s is closed to nobody known", async (method, path) => {
    const { app } = await createTestApp({ perform: hanging });
    for (const base of [BASE, "/eve/v1"]) expect((await app.request(`${base}${path}`, { method })).status).toBe(401);
  });

  test("an authenticator that throws lets nobody in and shows nothing", async () => {
    const { app, logged } = await createTestApp({
      perform: hanging,
      auth: [
        () => {
          throw new Error("secret-of-the-database");
        },
        none(),
      ],
    });
    const response = await app.request(`${BASE}/info`);
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("secret-of-the-database");
    expect(logged.join()).toContain("secret-of-the-database");
  });

  test.each([{}, { authenticator: "x" }, "ada", { ...someone("a"), principalType: "god" }, { ...someone("") }])(
    "a principal that is none (%j) lets nobody in",
    async (principal) => {
      const { app } = await createTestApp({ perform: hanging, auth: [() => principal as never] });
      expect((await app.request(`${BASE}/info`)).status).toBe(500);
    },
  );

  test("§18.2 Host and forwarded headers grant nothing", async () => {
    const { app } = await createTestApp({ perform: hanging });
    const headers = {
      host: "localhost",
      "x-forwarded-host": "localhost",
      "x-forwarded-for": "127.0.0.1",
      forwarded: "for=127.0.0.1",
    };
    expect((await app.request(`http://localhost${BASE}/info`, { headers })).status).toBe(401);
  });
});

describe("public routes", () => {
  test("PROTOCOL: health is exactly this, for everybody, below both bases", async () => {
    const { app } = await createTestApp({ perform: hanging, auth: [] });
    for (const base of [BASE, "/eve/v1"]) {
      const response = await app.request(`${base}/health`);
      expect([response.status, await response.json()]).toEqual([
        200,
        { ok: true, status: "ready", workflowId: "lead@test-build" },
      ]);
    }
  });

  test("another member's path is 404", async () => {
    const { app } = await createTestApp({ perform: hanging });
    const response = await app.request("/eve/research/v1/health");
    expect([response.status, await response.json()]).toEqual([
      404,
      { ok: false, error: expect.any(String), code: "NOT_FOUND" },
    ]);
  });

  test("PROTOCOL: info names what is there, and no path of this machine", async () => {
    const { get } = await createTestApp({ perform: hanging });
    const text = await (await get("/info")).text();
    expect(JSON.parse(text)).toMatchObject({
      kind: "eve-agent-info",
      member: "lead",
      mode: "development",
      agents: [{ id: "root" }, { id: "root/helper" }],
    });
    expect(text).not.toMatch(/"\/|file:|\\\\/);
  });
});
