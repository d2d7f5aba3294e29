import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { DIAGNOSTIC_CODES } from "./discover/diagnostic.ts";
import { AgentError, ERROR_CODES, messageOf, publicMessageOf } from "./errors.ts";

describe("docs/errors.md", () => {
  const text = readFileSync(new URL("../../../docs/errors.md", import.meta.url), "utf8");
  const [errors, diagnostics] = text.split(/^# Build diagnostics$/m).map((part) => part.split(/^## /m).slice(1)) as [
    string[],
    string[],
  ];

  it("has one section for every code, in their order", () => {
    expect(errors.map((section) => section.split("\n")[0])).toEqual(Object.keys(ERROR_CODES));
    expect(diagnostics.map((section) => section.split("\n")[0])).toEqual(DIAGNOSTIC_CODES);
  });

  it.each(diagnostics)("says of a diagnostic what it means and how to repair it: %#", (section) => {
    expect(section).toMatch(/\*\*Cause\.\*\* \S/);
    expect(section).toMatch(/\*\*Repair\.\*\* \S/);
  });

  it.each(errors.map((section) => [section.split("\n")[0]!, section]))(
    "says of %s what it means and how to repair it",
    (code, section) => {
      const { status, retryable } = ERROR_CODES[code as keyof typeof ERROR_CODES];
      expect(section).toContain(
        `HTTP ${status}, ${retryable ? "may succeed when sent again" : "sending it again does not help"}.`,
      );
      expect(section).toMatch(/\*\*Cause\.\*\* \S/);
      expect(section).toMatch(/\*\*Repair\.\*\* \S/);
    },
  );
});

describe("AgentError", () => {
  it("is recognised across copies of this module, by code if asked", () => {
    const foreign = Object.defineProperty(new Error("x"), Symbol.for("eve.AgentError"), { value: true });
    expect(AgentError.is(Object.assign(foreign, { code: "NOT_FOUND" }), "NOT_FOUND")).toBe(true);
    expect(AgentError.is(new AgentError("NOT_FOUND", "x"), "FORBIDDEN")).toBe(false);
    expect(AgentError.is(new Error("x"))).toBe(false);
    expect(AgentError.is(null)).toBe(false);
  });

  it("keeps what it was given", () => {
    const cause = new Error("why");
    expect(new AgentError("NOT_FOUND", "x", { fix: "Do it.", cause, data: { id: 1 } })).toMatchObject({
      code: "NOT_FOUND",
      message: "x",
      fix: "Do it.",
      cause,
      data: { id: 1 },
    });
  });
});

describe("messageOf", () => {
  it.each([
    [new Error("a"), "a"],
    ["b", "b"],
    [{ c: 1 }, '{"c":1}'],
    [undefined, "undefined"],
    [1n, "1"],
  ])("%o", (thrown, message) => expect(messageOf(thrown)).toBe(message));

  it.each([
    ["a cycle", () => Object.assign(loop, { loop }), /^\[object Object\]$/],
    [
      "a getter that throws",
      () => Object.defineProperty(new Error("x"), "message", { get: explode }),
      /can not be read/,
    ],
    ["no prototype", () => Object.assign(Object.create(null), { big: 1n }), /can not be read/],
    ["a revoked proxy", revokedProxy, /can not be read/],
  ])("never throws: %s", (_, thrown, message) => expect(messageOf(thrown())).toMatch(message));
});

describe("publicMessageOf", () => {
  it.each([
    [
      "ENOENT: no such file or directory, open '/srv/app/none.txt'",
      "ENOENT: no such file or directory, open '…/none.txt'",
    ],
    ['Cannot find "/home/ada/my files/x y.txt".', 'Cannot find "…/x y.txt".'],
    ["Cannot find module /srv/a/b.js imported from /srv/c/d.js", "Cannot find module …/b.js imported from …/d.js"],
    ["at (/srv/a/b.ts:12:5)", "at (…/b.ts:12:5)"],
    ["import of file:///srv/a/b.mjs failed", "import of …/b.mjs failed"],
    ["C:\\Users\\ada\\x.txt is locked", "…/x.txt is locked"],
    ["stderr:/var/log/x.log", "stderr:…/x.log"],
    ["no luck\n    at run (/srv/a/b.ts:1:2)\n    at async node:internal/x:3:4", "no luck"],
    ["first\n    at run (x)\nsecond", "first\nsecond"],
  ])("%j", (text, shown) => expect(publicMessageOf(new Error(text))).toBe(shown));

  it.each([
    ["Incorrect API key provided: sk-proj-ab12CD34ef56. See the docs.", "Incorrect API key provided: … See the docs."],
    ["Incorrect API key provided: sk-proj-********wxyz", "Incorrect API key provided: …"],
    ["no such key sk_live_4242424242424242", "no such key sk_…"],
    [
      "GET https://x.example/v1?alt=sse&key=AIzaSyA1234567890abcdefg failed",
      "GET https://x.example/v1?alt=sse&key=… failed",
    ],
    ["https://ada:hunter2@x.example/v1 refused", "https://…@x.example/v1 refused"],
    ['{"authorization":"Bearer abc.def-123456"}', '{"authorization":"Bearer …"}'],
    ['headers: { "x-api-key": "0123456789abcdef" }', 'headers: { "x-api-key": "…" }'],
    ["token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln expired", "token eyJ… expired"],
    ["the key AIzaSyA1234567890abcdefghijklmnopqrstu is blocked", "the key AIza… is blocked"],
    ["password=hunter22; host=db", "password=…; host=db"],
  ])("holds no credential: %j", (text, shown) => expect(publicMessageOf(new Error(text))).toBe(shown));

  it.each([
    "Unexpected token: } in JSON at position 12345",
    "The API key: missing. Set ANTHROPIC_API_KEY.",
    "sk-learn-style names and a basic example of a bearer",
    "GET https://api.example.com/v1/models?x=1 failed: 500",
    "http://[::1]:3000/eve/far/v1/session is not there",
    "agent/subagents/far.ts and ./a/b.ts and ~/x/y and either/or",
    "</div></p> is 1 / 2, not //",
  ])("%j stays", (text) => expect(publicMessageOf(text)).toBe(text));

  it("reads a long message in no time, whatever it repeats", () => {
    const text = "sk-".repeat(150_000);
    const started = performance.now();
    expect(publicMessageOf(text)).toBe(text);
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});

const loop: Record<string, unknown> = {};

function explode(): never {
  throw new Error("y");
}

function revokedProxy(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}
