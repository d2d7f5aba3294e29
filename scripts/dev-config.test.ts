import { describe, expect, it } from "vitest";
import { compareConfigs, describeChange, membersOf } from "./dev-config.ts";

const config = (names: readonly string[], routes: unknown[] = []) => ({
  services: {
    ...Object.fromEntries(names.map((name) => [name, { root: `agents/${name}` }])),
    web: { root: "web" },
  },
  routes,
});

describe("a changed configuration", () => {
  it("needs a restart only for other services", () => {
    const before = config(["a", "b"]);
    expect(compareConfigs(before, config(["a", "b"]))).toBe("same");
    expect(compareConfigs(before, config(["a", "b"], [{ src: "/x" }]))).toBe("reread");
    expect(compareConfigs(before, config(["a"]))).toBe("restart");
  });

  it("is told by its members", () => {
    expect(membersOf(config(["a", "b"]))).toEqual(["a", "b"]);
    expect(describeChange(config(["a", "b"]), config(["b", "c"]))).toBe("c is new, a is gone");
    expect(describeChange(config(["a"]), config(["a"]))).toBe("services or their peers changed");
  });
});
