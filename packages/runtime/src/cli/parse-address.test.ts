import { describe, expect, it } from "vitest";
import { parseAddress } from "./parse-address.ts";

describe("parseAddress", () => {
  it.each([
    [[], {}, { host: "127.0.0.1", port: 4000 }],
    [[], { HOST: "0.0.0.0", PORT: "5000" }, { host: "0.0.0.0", port: 5000 }],
    [["--port", "6000"], { PORT: "5000" }, { host: "127.0.0.1", port: 6000 }],
    [["--host=::1", "--port=0"], {}, { host: "::1", port: 0 }],
  ])("%j with %j", (args, env, address) => expect(parseAddress(args, env)).toEqual(address));

  it.each([
    [["--port", "http"], {}],
    [["--port", "65536"], {}],
    [["--port"], {}],
    [["--listen", "1"], {}],
    [[], { PORT: "x" }],
  ])("refuses %j with %j", (args, env) => {
    expect(() => parseAddress(args, env)).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
  });
});
