import { describe, expect, test } from "vitest";
import { createCallbackTokens } from "../transport/callback-token.ts";
import { createOperatorTokens, operatorTokenOf, type OperatorCall } from "./operator-token.ts";

const SECRET = "s".repeat(43);
const CALL: OperatorCall = { method: "DELETE", target: "/eve/lead/v1/session/ses_1" };
const START = Date.UTC(2026, 11, 1);

function tokensAt(now: number, secret = SECRET) {
  return createOperatorTokens(secret, () => now);
}

describe("a token", () => {
  const token = tokensAt(START).create(CALL);
  const [expires, signature] = token.slice("eve_operator_".length).split(".") as [string, string];

  test("is for its call, until its minute is over", () => {
    expect(tokensAt(START).verify(token, { ...CALL })).toBe(true);
    expect(tokensAt(START + 59_999).verify(token, CALL)).toBe(true);
    expect(tokensAt(START + 60_000).verify(token, CALL)).toBe(false);
  });

  test("of a clock that is ahead of the member's lives no longer for it", () => {
    expect(tokensAt(START - 1).verify(token, CALL)).toBe(false);
  });

  test.each<[string, Partial<OperatorCall>]>([
    ["method", { method: "POST" }],
    ["method in other letters", { method: "delete" }],
    ["session", { target: "/eve/lead/v1/session/ses_2" }],
    ["route", { target: `${CALL.target}/retry` }],
    ["member", { target: "/eve/far/v1/session/ses_1" }],
    ["base", { target: "/eve/v1/session/ses_1" }],
    ["query", { target: `${CALL.target}?x` }],
    ["encoding", { target: "/eve/lead/v1/session/ses%5F1" }],
    // What would be the same text without bounds between the fields.
    ["boundary", { method: `DELETE","${CALL.target}`, target: "" }],
  ])("is for no other %s", (_, other) => {
    expect(tokensAt(START).verify(token, { ...CALL, ...other })).toBe(false);
  });

  test.each([
    ["with another end", `eve_operator_${Number(expires) - 1}.${signature}`],
    ["with an end of other digits", `eve_operator_0${expires}.${signature}`],
    ["with an end that is no number", `eve_operator_Infinity.${signature}`],
    ["without its signature", `eve_operator_${expires}.`],
    ["without its end", `eve_operator_.${signature}`],
    ["cut", token.slice(0, -1)],
    ["with a character more", `${token}A`],
    ["with a line more", `${token}\n`],
    ["with a blank before", ` ${token}`],
    ["with its signature padded", `${token}=`],
    ["that is the prefix", "eve_operator_"],
    ["that is empty", ""],
    ["of another kind", token.replace("operator", "callback")],
  ])("%s is none", (_, other) => {
    expect(tokensAt(START).verify(other, CALL)).toBe(false);
  });

  test("changed in one character of its signature is none, whichever that is", () => {
    for (let index = 0; index < signature.length; index++) {
      const changed = signature[index] === "A" ? "B" : "A";
      const other = `${signature.slice(0, index)}${changed}${signature.slice(index + 1)}`;
      expect(tokensAt(START).verify(`eve_operator_${expires}.${other}`, CALL)).toBe(false);
    }
  });

  test("of another store is none", () => {
    expect(tokensAt(START).verify(tokensAt(START, "t".repeat(43)).create(CALL), CALL)).toBe(false);
  });

  test.each(["", "s", "s".repeat(42)])("of a store whose secret is %j is none, even by that secret", (secret) => {
    const weak = tokensAt(START, secret);
    expect(weak.verify(weak.create(CALL), CALL)).toBe(false);
  });

  test("does not hold the secret, and a callback token does not make one", () => {
    expect(token).not.toContain(SECRET);
    const callback = createCallbackTokens(SECRET).create({ sessionId: "ses_1", turnId: "turn_0", callId: "c" });
    expect(tokensAt(START).verify(`eve_operator_${expires}.${callback.split(".")[1]}`, CALL)).toBe(false);
  });
});

describe("operatorTokenOf", () => {
  test.each([
    [{ authorization: "Bearer eve_operator_1.a" }, "eve_operator_1.a"],
    [{ authorization: "bearer  eve_operator_1.a" }, "eve_operator_1.a"],
    [{ authorization: "Bearer eve_operator_" }, "eve_operator_"],
    [{ authorization: "Bearer other" }, undefined],
    [{ authorization: "Basic eve_operator_1.a" }, undefined],
    [{ authorization: "Bearer" }, undefined],
    [{ "x-operator": "Bearer eve_operator_1.a" }, undefined],
  ])("%j", (headers, token) => expect(operatorTokenOf(new Headers(headers as HeadersInit))).toBe(token));
});
