import { describe, expect, test } from "vitest";
import { findForeignName } from "./local-request.ts";

const SELF = "http://192.168.1.5:4000";
const find = (headers: Record<string, string>, origin?: string, url = "http://127.0.0.1:4000/eve/v1/info") =>
  findForeignName({ url, headers: new Headers(headers) }, origin);

describe("a request to this machine", () => {
  test.each([
    "localhost",
    "localhost:4000",
    "LOCALHOST:4000",
    "foreman.localhost:3000",
    "a.b.localhost",
    "127.0.0.1",
    "127.0.0.1:4000",
    "127.8.9.10:4000",
    "[::1]",
    "[::1]:4000",
    "[0:0:0:0:0:0:0:1]:4000",
  ])("names it %s", (host) => {
    expect(find({ host })).toBeUndefined();
    expect(find({ host, origin: `http://${host}` })).toBeUndefined();
    expect(find({ host, origin: `https://${host}` })).toBeUndefined();
    expect(
      find({ host: "127.0.0.1:37727", "x-forwarded-host": host, "x-vercel-deployment-url": host }),
    ).toBeUndefined();
    expect(find({}, undefined, `http://${host}/eve/v1/info`)).toBeUndefined();
  });

  test("may come from a page of another of its ports", () => {
    expect(find({ host: "127.0.0.1:4000", origin: "http://localhost:5173" })).toBeUndefined();
  });

  test("may name the origin that the server is told", () => {
    expect(find({ host: "192.168.1.5:4000", origin: SELF }, SELF)).toBeUndefined();
    expect(find({ host: "x.example" }, "https://x.example")).toBeUndefined();
    expect(find({ host: "x.example:443", origin: "https://x.example" }, "https://x.example/")).toBeUndefined();
    const proxied = { host: "127.0.0.1:37727", "x-forwarded-host": "192.168.1.5:4000" };
    expect(find(proxied, SELF)).toBeUndefined();
  });
});

describe("a request that names another machine", () => {
  const foreign = [
    "evil.example",
    "evil.example:4000",
    "localhost.evil.example",
    "evil-localhost",
    "127.0.0.1.evil.example",
    "0.0.0.0:4000",
    "[::]:4000",
    "[::ffff:8.8.8.8]",
    "192.168.1.5:4000",
    "10.0.0.1",
    "128.0.0.1",
    "127.0.0.1@evil.example",
    "evil.example#127.0.0.1",
    "127.0.0.1/x",
    "127.0.0.1, evil.example",
    "a b",
    ":4000",
  ];

  test.each(foreign)("%s is found, in whichever header it stands", (name) => {
    expect(find({ host: name })).toEqual({ header: "host", value: name });
    for (const header of ["x-forwarded-host", "x-vercel-deployment-url"]) {
      expect(find({ host: "127.0.0.1:4000", [header]: name })).toEqual({ header, value: name });
    }
  });

  test("a header that a page can set does not hide the one that it can not", () => {
    expect(
      find({
        host: "127.0.0.1:37727",
        "x-forwarded-host": "localhost:3000",
        "x-vercel-deployment-url": "evil.example:3000",
      }),
    ).toEqual({ header: "x-vercel-deployment-url", value: "evil.example:3000" });
  });

  test.each([
    "null",
    "",
    "file://",
    "http://evil.example",
    "https://localhost.evil.example",
    "localhost",
    "ftp://localhost",
  ])("the origin %j is found", (origin) => {
    expect(find({ host: "localhost:4000", origin })).toEqual({ header: "origin", value: origin });
  });

  test("another port of the told origin's machine is another server", () => {
    expect(find({ host: "192.168.1.5:4001" }, SELF)).toMatchObject({ header: "host" });
    expect(find({ host: "192.168.1.5:4000", origin: "http://192.168.1.5" }, SELF)).toMatchObject({ header: "origin" });
    expect(find({ host: "192.168.1.5:4000", origin: "https://192.168.1.5:4000" }, SELF)).toMatchObject({
      header: "origin",
    });
  });

  test("a told origin that is none changes nothing", () => {
    expect(find({ host: "localhost" }, "nonsense")).toBeUndefined();
    expect(find({ host: "nonsense" }, "nonsense")).toMatchObject({ header: "host" });
  });

  test("without a Host header it is the URL that counts", () => {
    expect(find({}, undefined, "http://evil.example/eve/v1/info")).toEqual({ header: "host", value: "evil.example" });
  });
});
