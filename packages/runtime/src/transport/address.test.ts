import { describe, expect, test } from "vitest";
import {
  defineRemoteAgent,
  defineWorkspaceAgent,
  type RemoteAgentOptions,
  type WorkspaceAgentOptions,
} from "../define/index.ts";
import type { ManifestSubagent } from "../protocol/manifest.ts";
import { peerVariable, resolveAddress, type RemoteAddress } from "./address.ts";
import { basic, bearer } from "./auth.ts";

const manifest = {
  name: "research",
  kind: "peer",
  source: "subagents/research.ts",
  description: "",
  tool: true,
} as ManifestSubagent;
const peer = (options: Partial<WorkspaceAgentOptions> = {}, name = "research") =>
  ({ kind: "peer", manifest, peer: name, definition: defineWorkspaceAgent({ name, ...options }) }) as const;
const remote = (options: Partial<RemoteAgentOptions> & { url: RemoteAgentOptions["url"] }) =>
  ({ kind: "remote", manifest, definition: defineRemoteAgent({ description: "Far.", ...options }) }) as const;
const headersOf = (address: RemoteAddress) => address.headers({ url: address.sessions, method: "POST" });

const DEV = { VERCEL: "1", VERCEL_ENV: "development", VERCEL_URL: "localhost:3000" };
const BOUND = { EVE_PEER_RESEARCH_URL: "http://10.0.0.7:4001", EVE_PEER_RESEARCH_TOKEN: "bound-token" };

describe("§10.4 the address of a peer, in order", () => {
  test("1. the explicit transport, which replaces the rest completely", async () => {
    const address = await resolveAddress(peer({ transport: { url: "https://explicit.example" } }), {
      ...BOUND,
      ...DEV,
    });
    expect(address.sessions).toBe("https://explicit.example/eve/research/v1/session");
    expect(await headersOf(address)).toEqual({});
  });

  test("2. the binding, with its token as bearer", async () => {
    const address = await resolveAddress(peer(), { ...BOUND, ...DEV });
    expect(address.sessions).toBe("http://10.0.0.7:4001/eve/research/v1/session");
    expect(await headersOf(address)).toEqual({ authorization: "Bearer bound-token" });
  });

  test("3. the origin of vercel dev, without credentials", async () => {
    const address = await resolveAddress(peer(), DEV);
    expect(address.sessions).toBe("http://localhost:3000/eve/research/v1/session");
    expect(await headersOf(address)).toEqual({});
  });

  test.each([
    {},
    { EVE_PEER_RESEARCH_TOKEN: "x" },
    { EVE_PEER_RESEARCH_URL: "" },
    { EVE_PEER_OTHER_URL: "http://x" },
    { VERCEL_URL: "localhost:3000" },
    { ...DEV, VERCEL_ENV: "production" },
    { ...DEV, VERCEL: "0" },
  ])("elsewhere (%j) NO_TRANSPORT says how to give one", async (env) => {
    await expect(resolveAddress(peer(), env)).rejects.toMatchObject({
      code: "NO_TRANSPORT",
      message: expect.stringContaining('"research"'),
      fix: expect.stringMatching(/vercel dev.*EVE_PEER_RESEARCH_URL.*transport/),
    });
  });

  test("the variable of a peer", () => {
    expect(peerVariable("my-peer-2")).toBe("EVE_PEER_MY_PEER_2");
  });

  test.each(["", "10.0.0.7:4001", "ftp://x", "not a url"])(
    "a transport that returns %j is NO_TRANSPORT",
    async (url) => {
      await expect(resolveAddress(peer({ transport: { url: () => url } }), DEV)).rejects.toMatchObject({
        code: "NO_TRANSPORT",
      });
    },
  );

  test.each(["10.0.0.7:4001", "ftp://x", "not a url"])(
    "a binding that is %j is NO_TRANSPORT and names its variable",
    async (url) => {
      await expect(resolveAddress(peer(), { EVE_PEER_RESEARCH_URL: url })).rejects.toMatchObject({
        code: "NO_TRANSPORT",
        message: expect.stringContaining("EVE_PEER_RESEARCH_URL"),
      });
    },
  );
});

describe("§10.1 base paths are kept", () => {
  test.each([
    ["https://x.example", "https://x.example/eve/v1/session"],
    ["https://x.example/", "https://x.example/eve/v1/session"],
    ["https://x.example/base", "https://x.example/base/eve/v1/session"],
    ["https://x.example/base//", "https://x.example/base/eve/v1/session"],
    ["https://x.example/eve/v1", "https://x.example/eve/v1/session"],
    ["https://x.example/eve/research", "https://x.example/eve/research/v1/session"],
    ["https://x.example/base/eve/research/", "https://x.example/base/eve/research/v1/session"],
  ])("%s → %s", async (url, sessions) => {
    expect((await resolveAddress(remote({ url }), {})).sessions).toBe(sessions);
  });

  test("a mounted URL is the same peer, not a path below it", async () => {
    const url = "https://x.example/eve/research";
    expect((await resolveAddress(peer({ transport: { url } }), {})).sessions).toBe(`${url}/v1/session`);
  });

  test("an authored path is taken as it is, also below a mount", async () => {
    expect((await resolveAddress(remote({ url: "https://x.example/eve/research", path: "/run" }), {})).sessions).toBe(
      "https://x.example/eve/research/run",
    );
  });

  test("a function is read for every request", async () => {
    let url = "https://one.example";
    const definition = remote({ url: () => url });
    expect((await resolveAddress(definition, {})).url).toBe("https://one.example");
    url = "https://two.example";
    expect((await resolveAddress(definition, {})).url).toBe("https://two.example");
  });
});

describe("§10.5 credentials", () => {
  test("headers and auth together, auth wins, each read afresh", async () => {
    let n = 0;
    const address = await resolveAddress(
      remote({
        url: "https://x.example",
        headers: () => ({ "x-team": "a", authorization: "none" }),
        auth: bearer(() => `t${++n}`),
      }),
      {},
    );
    expect(await headersOf(address)).toEqual({ "x-team": "a", authorization: "Bearer t1" });
    expect(await headersOf(address)).toEqual({ "x-team": "a", authorization: "Bearer t2" });
  });

  test("auth is told the request it is for", async () => {
    const asked: unknown[] = [];
    const auth = (request: unknown) => (asked.push(request), {});
    const address = await resolveAddress(remote({ url: "https://x.example", auth }), {});
    await address.headers({ url: "https://x.example/eve/v1/session/s/cancel", method: "POST" });
    expect(asked).toEqual([{ url: "https://x.example/eve/v1/session/s/cancel", method: "POST" }]);
  });

  test.each([
    "https://ada:hunter2@x.example",
    "https://hunter2@x.example",
    "https://x.example?key=hunter2",
    "https://x.example/base?key=hunter2",
    "https://x.example#hunter2",
  ])("an address that may hold one is NO_TRANSPORT and not repeated: %s", async (url) => {
    for (const failed of [
      resolveAddress(remote({ url: () => url }), {}),
      resolveAddress(peer({ transport: { url: () => url } }), {}),
      resolveAddress(peer(), { EVE_PEER_RESEARCH_URL: url }),
    ]) {
      const error = await failed.then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(error).toMatchObject({ code: "NO_TRANSPORT", fix: expect.stringMatching(/auth|TOKEN/) });
      expect(JSON.stringify([String(error), error])).not.toContain("hunter2");
    }
  });

  test("basic is RFC 7617 in UTF-8", async () => {
    expect(await basic("team", "pässwörd:x")({ url: "", method: "" })).toEqual({
      authorization: `Basic ${Buffer.from("team:pässwörd:x").toString("base64")}`,
    });
  });

  test.each([
    ["bearer", bearer(() => undefined as never)],
    ["bearer", bearer("")],
    ["basic", basic("team", async () => "")],
  ])("an empty secret of %s is NO_TRANSPORT and says nothing of others", async (_, auth) => {
    await expect(Promise.resolve(auth({ url: "", method: "" }))).rejects.toMatchObject({ code: "NO_TRANSPORT" });
  });
});
