import { expect, it } from "vitest";
import { defineAgent } from "./define-agent.ts";

it.each([["A B"], "A", [1], [""], ["1A"]])("takes no %j as names of variables", (requiredEnv) => {
  expect(() => defineAgent({ requiredEnv: requiredEnv as string[] })).toThrow(
    expect.objectContaining({ code: "CONFIG_INVALID", data: { option: "requiredEnv" } }),
  );
});

it("takes names of variables", () => {
  expect(defineAgent({ requiredEnv: ["STRIPE_KEY", "_x1"] }).requiredEnv).toEqual(["STRIPE_KEY", "_x1"]);
});
