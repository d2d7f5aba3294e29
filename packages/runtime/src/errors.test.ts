import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { AgentError, ERROR_CODES, messageOf } from "./errors.ts";

describe("docs/errors.md", () => {
  const text = readFileSync(new URL("../../../docs/errors.md", import.meta.url), "utf8");
  const sections = text
    .split(/^# Build diagnostics$/m)[0]!
    .split(/^## /m)
    .slice(1);

  it("has one section for every code, in their order", () => {
    expect(sections.map((section) => section.split("\n")[0])).toEqual(Object.keys(ERROR_CODES));
  });

  it.each(sections.map((section) => [section.split("\n")[0]!, section]))(
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
  ])("%o", (thrown, message) => expect(messageOf(thrown)).toBe(message));
});
