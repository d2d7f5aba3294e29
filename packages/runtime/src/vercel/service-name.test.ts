import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toMemberName, toPeerVariable, toServiceName } from "./service-name.ts";

const memberName = fc.stringMatching(/^[a-z][a-z0-9-]{0,30}$/);

describe("service names", () => {
  it("are what the platform accepts, and lead back to the member", () => {
    fc.assert(
      fc.property(memberName, (member) => {
        const service = toServiceName(member);
        expect(service).toMatch(/^[a-z]([a-z_-]*[a-z])?$/);
        expect(toMemberName(service)).toBe(member);
      }),
    );
  });

  it("never name two members", () => {
    fc.assert(
      fc.property(memberName, memberName, (one, other) => {
        expect(toServiceName(one) === toServiceName(other)).toBe(one === other);
      }),
    );
  });

  it("name at most the member they are derived from", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]([a-j_z-]{0,12}[a-z])?$/), (service) => {
        const member = toMemberName(service);
        if (member !== undefined) expect(toServiceName(member)).toBe(service);
      }),
    );
  });

  it.each([
    ["foreman", "foreman"],
    ["gpt-4", "gpt-_e"],
    ["a1b2", "a_bb_c"],
    ["trailing-", "trailing_z"],
  ])("%s is %s", (member, service) => expect(toServiceName(member)).toBe(service));

  it.each(["a_k", "a_zb", "web_kit", "Web", ""])("%j names no member", (service) =>
    expect(toMemberName(service)).toBeUndefined(),
  );

  it("refuses a name that gets too long", () => {
    expect(() => toServiceName(`a${"1".repeat(47)}`)).toThrow(/no service name/);
  });
});

it("derives the variable of a peer", () => {
  expect(toPeerVariable("deep-research2")).toBe("EVE_PEER_DEEP_RESEARCH2_URL");
});
