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

it("§19 refuses to batch checkpoints, and says why nobody needs it", () => {
  const options = { experimental: { workflow: { modelCallsPerStep: 4 } } };
  expect(() => defineAgent(options as never)).toThrow(
    expect.objectContaining({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("0.06 ms"),
      fix: expect.stringContaining("Remove it"),
    }),
  );
  expect(() => defineAgent({ experimental: {} } as never)).toThrow(/no option "experimental"/);
});
