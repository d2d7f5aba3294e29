import { expect, test, vi } from "vitest";
import { Client, ClientError } from "./index.ts";
import { answerJson, listen, startStream, streamLines, toLines } from "./misbehaving-server.fixture.ts";

const HEALTH = { ok: true, status: "ready", workflowId: "w" };
const healthy = () => listen((_, response) => answerJson(response, 200, HEALTH));

/** What a failing request is told by. */
async function failureOf(request: Promise<unknown>): Promise<ClientError> {
  const error = await request.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ClientError);
  return error as ClientError;
}

test.each([
  ["a bearer", { auth: { bearer: "t" } }, { authorization: "Bearer t" }],
  ["a bearer that is asked for", { auth: { bearer: async () => "t" } }, { authorization: "Bearer t" }],
  [
    "a password in UTF-8",
    { auth: { basic: { username: "ada", password: () => "größe" } } },
    { authorization: `Basic ${Buffer.from("ada:größe").toString("base64")}` },
  ],
  [
    "an OIDC token, for the agent and for the platform",
    { auth: { vercelOidc: { token: "t" } } },
    { authorization: "Bearer t", "x-vercel-trusted-oidc-idp-token": "t" },
  ],
  ["headers", { headers: { "X-Tenant": "a" } }, { "x-tenant": "a" }],
  ["headers that are asked for", { headers: async () => ({ "x-tenant": "a" }) }, { "x-tenant": "a" }],
  [
    "credentials instead of a header of that name",
    { auth: { bearer: "t" }, headers: { Authorization: "x", "x-tenant": "a" } },
    { authorization: "Bearer t", "x-tenant": "a" },
  ],
])("sends %s", async (_, options, headers) => {
  const server = await healthy();
  await new Client({ host: server.origin, ...options }).health();
  expect(server.received[0]!.headers).toMatchObject(headers);
});

test("headers of a request take the place of the client's, of whatever case", async () => {
  const server = await healthy();
  const client = new Client({ host: server.origin, auth: { vercelOidc: { token: "platform" } } });
  await client.health({ headers: { Authorization: "Bearer user" } });
  expect(server.received[0]!.headers).toMatchObject({
    authorization: "Bearer user",
    "x-vercel-trusted-oidc-idp-token": "platform",
  });
});

test("asks for credentials before every request, also before each reconnect", async () => {
  const lines = toLines(["turn.started"], ["session.completed"]);
  const server = await listen((request, response) => {
    if (request.nth > 0) return streamLines(request, response, lines);
    startStream(response);
    response.destroy();
  });
  let asked = 0;
  const client = new Client({
    host: server.origin,
    reconnectDelayMs: 1,
    auth: { bearer: () => `token-${asked++}` },
    headers: () => ({ "x-asked": String(asked) }),
  });
  for await (const _ of client.sessions.attach("s").stream());
  expect(server.received.map(({ headers }) => [headers.authorization, headers["x-asked"]])).toEqual([
    ["Bearer token-0", "0"],
    ["Bearer token-1", "1"],
  ]);
});

test("what a function for credentials throws is thrown as it is, and nothing is sent", async () => {
  const server = await healthy();
  const broken = new Error("no token today");
  const auth = { bearer: () => Promise.reject(broken) };
  const client = new Client({ host: server.origin, auth });
  await expect(client.health()).rejects.toBe(broken);
  await expect(client.sessions.attach("s").snapshot()).rejects.toBe(broken);
  expect(server.received).toEqual([]);
});

test("a header that can not be sent is named, and its value is not", async () => {
  const client = new Client({ host: "http://127.0.0.1:1", auth: { bearer: "sec\nret" } });
  await expect(client.health()).rejects.toThrow('The header "authorization" can not be sent.');
});

test.each([
  ["auth", { auth: { bearer: "secret" } }],
  ["headers", { headers: { "x-key": "secret" } }],
])("§10.5 %s never follow a redirect to another origin", async (_, options) => {
  const elsewhere = await healthy();
  const server = await listen((request, response) => {
    response.writeHead(request.method === "POST" ? 308 : 302, { location: `${elsewhere.origin}${request.path}` }).end();
  });
  const client = new Client({ host: server.origin, ...options });
  const requests = [
    client.health(),
    client.sessions.create({ message: "hello" }),
    client.sessions.attach("s").snapshot(),
    client.sessions.attach("s").send("hello", { operationId: "o" }),
  ];
  for (const error of await Promise.all(requests.map(failureOf))) expect(error.code).toBe("redirected");
  expect([server.received.length, elsewhere.received]).toEqual([4, []]);
});

test("§10.5 headers of one request do not either", async () => {
  const elsewhere = await healthy();
  const server = await listen((_, response) => {
    response.writeHead(307, { location: elsewhere.origin }).end();
  });
  const client = new Client({ host: server.origin });
  expect(await failureOf(client.health({ headers: { "x-key": "secret" } }))).toMatchObject({ status: 307 });
  expect(elsewhere.received).toEqual([]);
});

test("a redirect is followed when there is nothing to protect, unless it must not be", async () => {
  const elsewhere = await healthy();
  const server = await listen((request, response) => {
    response.writeHead(307, { location: `${elsewhere.origin}${request.path}` }).end();
  });
  expect(await new Client({ host: server.origin }).health()).toEqual(HEALTH);
  for (const redirect of ["manual", "error"] as const) {
    const client = new Client({ host: server.origin, redirect });
    expect(await failureOf(client.health())).toMatchObject({ code: "redirected" });
  }
});

test("a page is told to use the final address, since it can not see where a redirect leads", async () => {
  const fetch = async () => ({ ok: false, type: "opaqueredirect", status: 0, body: null }) as Response;
  const client = new Client({ host: "https://a.example", auth: { bearer: "t" }, fetch });
  expect(await failureOf(client.health())).toMatchObject({ status: 0, code: "redirected" });
});

test("an answer without success says its status, its body and its code", async () => {
  const problem = { ok: false, error: "Who are you? Sign in.", code: "UNAUTHORIZED" };
  const server = await listen((_, response) => answerJson(response, 401, problem));
  const error = await failureOf(new Client({ host: `${server.origin}?key=secret` }).health());
  expect(error).toMatchObject({ status: 401, body: JSON.stringify(problem), code: "UNAUTHORIZED" });
  expect(error.message).toBe("GET /eve/v1/health was answered with 401: Who are you? Sign in.");
});

test.each([
  ["a page", "<html>", undefined],
  ["nothing", "", undefined],
  ["another object", '{"message":"no"}', undefined],
])("so does one whose body is %s", async (_, body, code) => {
  const server = await listen((_, response) => void response.writeHead(500).end(body));
  const error = await failureOf(new Client({ host: server.origin }).health());
  expect([error.status, error.body, error.code]).toEqual([500, body, code]);
});

test("who can not be reached is told so, without the query of the host", async () => {
  const gone = await listen(() => {});
  const client = new Client({ host: "http://127.0.0.1:1/eve/foreman?key=secret" });
  const error = await failureOf(client.health());
  expect(error).toMatchObject({ status: 0, body: "", code: "unreachable", cause: expect.any(Error) });
  expect(error.message).not.toContain("secret");
  expect(gone.received).toEqual([]);
});

test.each([
  ["not JSON", "ready"],
  ["a list", "[]"],
  ["not what an agent says", '{"ok":true}'],
])("a success that is %s fails with invalid_response", async (_, body) => {
  const server = await listen((_, response) => void response.writeHead(200).end(body));
  const client = new Client({ host: server.origin });
  const requests = [client.health(), client.info(), client.sessions.create(), client.sessions.list()];
  for (const error of await Promise.all(requests.map(failureOf))) {
    expect(error).toMatchObject({ status: 200, body, code: "invalid_response" });
  }
});

test("an abort is thrown as it is", async () => {
  const server = await listen(() => {});
  const stop = new AbortController();
  const client = new Client({ host: server.origin });
  const requests = [
    client.health({ signal: stop.signal }),
    client.sessions.create({ message: "hello", signal: stop.signal }),
    client.sessions.attach("s").snapshot({ signal: stop.signal }),
  ];
  const reason = new Error("enough");
  const failed = requests.map((request) => expect(request).rejects.toBe(reason));
  await vi.waitFor(() => expect(server.received.length).toBe(3));
  stop.abort(reason);
  await Promise.all(failed);
});

test("fetch is looked up for each request, or is the client's own", async () => {
  const server = await healthy();
  const client = new Client({ host: server.origin });
  const seen: string[] = [];
  const noted =
    (name: string): typeof fetch =>
    (input, init) => {
      seen.push(name);
      return original(input, init);
    };
  const original = globalThis.fetch;
  vi.stubGlobal("fetch", noted("global"));
  await client.health();
  await new Client({ host: server.origin, fetch: noted("own") }).health();
  vi.unstubAllGlobals();
  await client.health();
  expect(seen).toEqual(["global", "own"]);
});
