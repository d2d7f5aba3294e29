import { createServer, type AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { parseInspect, toInspectFlag } from "./parse-inspect.ts";

const at = (port: number, host = "127.0.0.1") => ({ host, port });

describe("parseInspect", () => {
  it.each([
    [[], "", undefined],
    [["--inspect"], "", at(9229)],
    [["--inspect=9300"], "", at(9300)],
    [["--inspect=0.0.0.0:9300"], "foreman", at(9300, "0.0.0.0")],
    [["--inspect=[::1]:0"], "", at(0, "[::1]")],
    [[], "0", undefined],
    [[], "1", at(0)],
    [[], "foreman", at(9229)],
    [[], "foreman=9300", at(9300)],
    [[], "foreman=localhost:9300", at(9300, "localhost")],
    [[], "research", undefined],
    [[], "research=9300", undefined],
    [[], "127.0.0.1:9300", at(9300)],
  ])("%j with EVE_INSPECT=%s", (args, value, address) => {
    expect(parseInspect([...args, "--port", "1"], "foreman", value)).toEqual({
      rest: ["--port", "1"],
      ...(address && { address }),
    });
  });

  it.each([
    [["--inspect="], ""],
    [["--inspect=x"], ""],
    [["--inspect=1:2:3"], ""],
    [["--inspect=70000"], ""],
    [[], "foreman=x"],
    [[], "70000"],
  ])("refuses %j with EVE_INSPECT=%s", (args, value) => {
    expect(() => parseInspect(args, "foreman", value)).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
  });
});

describe("toInspectFlag", () => {
  it("chooses a port, and says when one is taken", async () => {
    expect(await toInspectFlag(at(0))).toMatch(/^--inspect=127\.0\.0\.1:[1-9]\d*$/);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    await expect(toInspectFlag(at(port))).rejects.toMatchObject({ code: "PORT_IN_USE" });
    server.close();
  });
});
