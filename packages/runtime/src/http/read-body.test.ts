import { connect, type AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { describe, expect, onTestFinished, test } from "vitest";
import { BASE, createTestApp, saying } from "./app.fixture.ts";
import { MAX_BODY_BYTES } from "./read-body.ts";

async function send(
  body: BodyInit | undefined,
  headers: Record<string, string>,
): Promise<{ status: number; error: string; code: string }> {
  const { app } = await createTestApp({ perform: saying("hi") });
  const init: RequestInit & { duplex: "half" } = {
    method: "POST",
    headers: { "x-user": "ada", ...headers },
    duplex: "half",
  };
  const response = await app.request(`${BASE}/session`, body === undefined ? init : { ...init, body });
  return { ...(await response.json()), status: response.status };
}

const json = { "content-type": "application/json" };

describe("PROTOCOL: media types", () => {
  test.each(["application/json", "application/json; charset=utf-8", "Application/JSON", "application/problem+json"])(
    "%s is read",
    async (type) => {
      expect((await send('{"message":"x"}', { "content-type": type })).status).toBe(202);
    },
  );

  test("what curl -d sends unasked is read when no browser sends it", async () => {
    expect((await send('{"message":"x"}', { "content-type": "application/x-www-form-urlencoded" })).status).toBe(202);
  });

  test.each([
    { origin: "https://evil.example" },
    { origin: "null" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-origin" },
  ])("a form of a browser (%j) is 415", async (headers) => {
    const { status, code } = await send('{"message":"x"}', {
      "content-type": "application/x-www-form-urlencoded",
      ...(headers as Record<string, string>),
    });
    expect([status, code]).toEqual([415, "UNSUPPORTED_MEDIA_TYPE"]);
  });

  test.each(["text/plain", "multipart/form-data; boundary=x", "text/plain; application/json", "application/jsonp"])(
    "%s is 415",
    async (type) => {
      expect((await send('{"message":"x"}', { "content-type": type })).status).toBe(415);
    },
  );

  test("JSON of a browser is read: it had to ask first", async () => {
    expect((await send('{"message":"x"}', { ...json, origin: "https://app.example" })).status).toBe(202);
  });
});

describe("PROTOCOL: shapes", () => {
  test.each(["{", "hello", "{'message':'x'}", "\u0000", '{"message":"x"}}'])("%j is not JSON: 400", async (body) => {
    expect(await send(body, json)).toMatchObject({
      status: 400,
      ok: false,
      code: "BAD_REQUEST",
      error: expect.stringContaining("JSON"),
    });
  });

  test.each([
    ["message", { message: 7 }],
    ["message", { message: "" }],
    ["message", { message: [] }],
    ["message", { message: [{ type: "text" }] }],
    ["message", { message: [{ type: "file", mediaType: "image/png" }] }],
    ["message", { message: [{ type: "file", mediaType: "image/png", url: "no url" }] }],
    ["operationId", { message: "x", operationId: "" }],
    [
      "callback.url",
      { message: "x", callback: { callId: "c", subagentName: "s", token: "t".repeat(16), url: "ftp://x" } },
    ],
    [
      "callback.token",
      { message: "x", callback: { callId: "c", subagentName: "s", token: "short", url: "http://x.example" } },
    ],
    ["protocolVersion", { message: "x", protocolVersion: "2" }],
  ])("a wrong %s is 400 and named (%j)", async (field, body) => {
    const { status, error } = await send(JSON.stringify(body), json);
    expect([status, error]).toEqual([400, expect.stringContaining(field)]);
  });

  test.each([
    [{ data: "!!! not base64" }, "message.0.data"],
    [{ data: "" }, "message.0.data"],
    [{ url: "ftp://example.com/a.png" }, "message.0.url"],
    [{ url: "file:///etc/passwd" }, "message.0.url"],
    [{}, "message.0"],
    [{ data: "aGk=", url: "https://example.com/a.png" }, "message.0"],
  ])("a file that no model could read is 400: %j", async (given, field) => {
    const message = [{ type: "file", mediaType: "image/png", ...given }];
    const { status, error } = await send(JSON.stringify({ message }), json);
    expect([status, error]).toEqual([400, expect.stringMatching(`^${field}: `)]);
  });

  test.each([{ data: "aGk=" }, { data: "aGk" }, { data: "_-8=" }, { url: "data:text/plain;base64,aGk=" }])(
    "a file of %j is taken",
    async (given) => {
      const message = [{ type: "file", mediaType: "text/plain", ...given }];
      expect((await send(JSON.stringify({ message }), json)).status).toBe(202);
    },
  );

  test.each([
    ["mesage", { mesage: "x" }],
    ["turnPolicy", { message: "x", turnPolicy: "queue" }],
    ["inputResponses", { inputResponses: [] }],
  ])("an unknown or unsupported field is 400: %s is named, and the known ones", async (field, body) => {
    const { status, error } = await send(JSON.stringify(body), json);
    expect([status, error]).toEqual([400, expect.stringMatching(new RegExp(`^${field}: .*message, clientContext`))]);
  });

  const nested = (levels: number): string => `{"message":"x","callback":${"[".repeat(levels)}${"]".repeat(levels)}}`;

  test("a body that is nested too deeply is 400 and says so", async () => {
    const tooDeep = { status: 400, code: "BAD_REQUEST", error: expect.stringContaining("64 levels") };
    expect(await send(nested(64), json)).toMatchObject(tooDeep);
    expect(await send(nested(500_000), json)).toMatchObject(tooDeep);
    expect((await send(nested(63), json)).error).toContain("callback");
  });

  test("bytes that are no UTF-8 are 400", async () => {
    const body = Buffer.concat([Buffer.from('{"message":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);
    expect(await send(body, json)).toMatchObject({ status: 400, error: expect.stringContaining("UTF-8") });
  });

  test.each(["null", "[]", '"x"', "7"])("%s is no object: 400", async (body) => {
    expect((await send(body, json)).status).toBe(400);
  });

  test("a hostile key is no option and no prototype", async () => {
    expect(await send('{"message":"x","__proto__":{"callback":{}}}', json)).toMatchObject({
      status: 400,
      error: expect.stringContaining("__proto__"),
    });
    expect({}).not.toHaveProperty("callback");
  });
});

test("an upload whose client hangs up is not logged", async () => {
  const { app, logged } = await createTestApp({ perform: saying("hi") });
  let ended = (): void => {};
  const answered = new Promise<void>((resolve) => (ended = resolve));
  const server = createAdaptorServer({
    fetch: async (request) => {
      const response = await app.fetch(request);
      ended();
      return response;
    },
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.write(`POST ${BASE}/session HTTP/1.1\r\nhost: x\r\nx-user: ada\r\ncontent-type: application/json\r\n`);
  socket.write("content-length: 100\r\n\r\n{", () => setTimeout(() => socket.destroy(), 50));
  await answered;
  expect(logged).toEqual([]);
});

test("an upload that is broken off is not logged", async () => {
  const { app, logged } = await createTestApp({ perform: saying("hi") });
  const controller = new AbortController();
  const body = new ReadableStream<Uint8Array>({
    pull: (stream) => {
      controller.abort();
      stream.error(new Error("aborted"));
    },
  });
  const { signal } = controller;
  const headers = { "x-user": "ada", ...json };
  await app.request(`${BASE}/session`, { method: "POST", headers, body, signal, duplex: "half" } as RequestInit);
  expect(logged).toEqual([]);
});

describe("PROTOCOL: the limit", () => {
  const chunk = new Uint8Array(64 * 1024).fill(32);

  test("a body that says it is larger is 413 before it is read", async () => {
    let pulled = 0;
    const body = new ReadableStream<Uint8Array>(
      { pull: (controller) => void (pulled++, controller.enqueue(chunk)) },
      { highWaterMark: 0 },
    );
    const { status, code } = await send(body, { ...json, "content-length": String(MAX_BODY_BYTES + 1) });
    expect([status, code]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
    expect(pulled).toBe(0);
  });

  test("a body that does not say so is cut off at the limit", async () => {
    let pulled = 0;
    const body = new ReadableStream<Uint8Array>(
      { pull: (controller) => void (pulled++, controller.enqueue(chunk)) },
      { highWaterMark: 0 },
    );
    expect((await send(body, json)).status).toBe(413);
    expect(pulled * chunk.byteLength).toBeLessThan(MAX_BODY_BYTES + 4 * chunk.byteLength);
  });

  test("a body just below it is read", async () => {
    const frame = '{"message":""}'.length;
    expect((await send(JSON.stringify({ message: "x".repeat(MAX_BODY_BYTES - frame) }), json)).status).toBe(202);
  });
});
