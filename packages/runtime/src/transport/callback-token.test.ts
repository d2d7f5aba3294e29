import fc from "fast-check";
import { expect, test } from "vitest";
import { createCallbackTokens } from "./callback-token.ts";

const tokens = createCallbackTokens("secret");
const call = { sessionId: "ses_1", turnId: "turn_0", callId: "c1" };

test("a token says its call, in characters that need no encoding", () => {
  const claim = fc.record({ sessionId: fc.string(), turnId: fc.string(), callId: fc.string({ unit: "grapheme" }) });
  fc.assert(
    fc.property(claim, (given) => {
      const token = tokens.create(given);
      expect(token).toMatch(/^[A-Za-z0-9_.-]+$/);
      expect(tokens.verify(token)).toEqual(given);
    }),
  );
});

test("the same call has the same token, also after a restart; no other has", () => {
  expect(createCallbackTokens("secret").create(call)).toBe(tokens.create(call));
  const others = [
    { ...call, callId: "c2" },
    { ...call, turnId: "turn_1" },
    { ...call, sessionId: "ses_2" },
  ];
  expect(new Set([call, ...others].map(tokens.create)).size).toBe(4);
});

test("parts can not be moved between the fields", () => {
  expect(tokens.create({ sessionId: "a", turnId: "b,c", callId: "d" })).not.toBe(
    tokens.create({ sessionId: "a,b", turnId: "c", callId: "d" }),
  );
});

test("any change of any character is refused", () => {
  const token = tokens.create(call);
  fc.assert(
    fc.property(fc.nat(token.length - 1), fc.constantFrom(..."AZaz09_-."), (at, character) => {
      const forged = token.slice(0, at) + character + token.slice(at + 1);
      if (forged === token) return;
      expect(tokens.verify(forged)).toBeUndefined();
    }),
  );
});

test("what is no token is refused, and throws nothing", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(tokens.verify(text)).toBeUndefined();
    }),
  );
  for (const text of ["", ".", "..", "a.b.c", tokens.create(call).split(".")[0]!])
    expect(tokens.verify(text)).toBeUndefined();
});

test("another spelling of the same bytes is refused", () => {
  const token = tokens.create(call);
  for (const text of [`${token}=`, `${token}==`, `${token} `, token.replace(".", "=.")])
    expect(tokens.verify(text)).toBeUndefined();
});

test("another store's token is refused", () => {
  expect(tokens.verify(createCallbackTokens("other").create(call))).toBeUndefined();
});
