import { afterEach, describe, expect, test, vi } from "vitest";
import { httpBasic, isDevelopment, localDev, none, type Authenticator, type AuthRequest } from "./auth.ts";

const request = (headers: Record<string, string>): AuthRequest => ({
  method: "POST",
  url: "http://localhost/eve/v1/session",
  headers: new Headers(headers),
});
const ask = (authenticator: Authenticator, headers: Record<string, string> = {}) => authenticator(request(headers));
const basic = (pair: string, scheme = "Basic"): Record<string, string> => ({
  authorization: `${scheme} ${Buffer.from(pair).toString("base64")}`,
});

afterEach(() => vi.unstubAllEnvs());

describe("httpBasic", () => {
  const team = httpBasic({ username: "team", password: "pässwörd:x" });

  test("accepts the pair, as one principal", () => {
    expect(ask(team, basic("team:pässwörd:x"))).toEqual({
      authenticator: "http-basic",
      principalId: "team",
      principalType: "user",
      attributes: {},
    });
    expect(ask(team, basic("team:pässwörd:x", "bASIC"))).not.toBeNull();
  });

  test.each([
    {},
    basic("team:wrong"),
    basic("team:"),
    basic("team"),
    basic("Team:pässwörd:x"),
    basic("team:pässwörd:x "),
    basic("team:pässwörd:x", "Bearer"),
    { authorization: "Basic" },
    { authorization: "Basic ???" },
    { authorization: "Basic dGVhbTpwYXNz, Basic dGVhbTpwYXNz" },
  ])("passes on %j", (headers) => {
    expect(ask(team, headers as Record<string, string>)).toBeNull();
  });

  test.each([undefined, "", () => undefined, () => ""])(
    "without a password (%o) it lets nobody in, not even an empty one",
    (password) => {
      expect(() => ask(httpBasic({ username: "team", password }), basic("team:"))).toThrow(
        expect.objectContaining({ code: "CONFIG_INVALID" }),
      );
    },
  );

  test("says which option is missing, and that its variable is not set", () => {
    const errorOf = (username: string, password: string | undefined): unknown => {
      try {
        return ask(httpBasic({ username, password }), basic("team:x"));
      } catch (error) {
        return error;
      }
    };
    expect(errorOf("team", undefined)).toMatchObject({ message: expect.stringMatching(/`password`.*not set/) });
    expect(errorOf("", "x")).toMatchObject({ message: expect.stringMatching(/`username`.*not set/) });
  });

  test("reads a password when the request comes", () => {
    let password = "one";
    const team = httpBasic({ username: "team", password: () => password });
    expect(ask(team, basic("team:one"))).not.toBeNull();
    password = "two";
    expect(ask(team, basic("team:one"))).toBeNull();
  });

  test("the challenge can not be broken out of by the realm", () => {
    expect(httpBasic({ username: "a", password: "b", realm: 'x", Bearer realm="\\' }).challenge).toBe(
      'Basic realm="x, Bearer realm=", charset="UTF-8"',
    );
  });
});

describe("§18.1 development", () => {
  test.each([
    [{ EVE_DEV: "1" }, true],
    [{ VERCEL: "1", VERCEL_ENV: "development" }, true],
    [{}, false],
    [{ NODE_ENV: "development" }, false],
    [{ EVE_DEV: "true" }, false],
    [{ VERCEL: "1", VERCEL_ENV: "preview" }, false],
    [{ VERCEL: "1", VERCEL_ENV: "production" }, false],
    [{ VERCEL_ENV: "development" }, false],
  ])("%j: %s", (env, expected) => {
    expect(isDevelopment(env)).toBe(expected);
  });

  test("localDev opens only while the process says so, whatever the request says", () => {
    vi.stubEnv("EVE_DEV", undefined);
    vi.stubEnv("VERCEL", undefined);
    expect(ask(localDev(), { host: "localhost", "x-forwarded-for": "127.0.0.1", "x-eve-dev": "1" })).toBeNull();
    vi.stubEnv("EVE_DEV", "1");
    expect(ask(localDev())).toMatchObject({ authenticator: "local-dev" });
  });

  test.each([
    [{ host: "evil.example:4000" }, 'its host header says "evil.example:4000"'],
    [{ host: "127.0.0.1:4000", origin: "http://evil.example" }, 'its origin header says "http://evil.example"'],
    [{ host: "127.0.0.1:4000", "x-forwarded-host": "evil.example" }, 'its x-forwarded-host header says "evil.example"'],
  ])("localDev passes on what was meant for another machine, %j, and says why", (headers, reason) => {
    vi.stubEnv("EVE_DEV", "1");
    expect(ask(localDev(), headers)).toBeNull();
    expect(localDev().hint!(request(headers))).toContain(reason);
  });

  test("localDev takes the name that EVE_ORIGIN gives the server", () => {
    vi.stubEnv("EVE_DEV", "1");
    vi.stubEnv("EVE_ORIGIN", "http://desk.example:4000");
    const named = { host: "desk.example:4000", origin: "http://desk.example:4000" };
    expect(ask(localDev(), named)).toMatchObject({ authenticator: "local-dev" });
    expect(ask(localDev(), { host: "other.example:4000" })).toBeNull();
  });

  test("localDev has nothing to say in production, or of a request that it takes", () => {
    vi.stubEnv("EVE_DEV", undefined);
    vi.stubEnv("VERCEL", undefined);
    expect(localDev().hint!(request({ host: "evil.example" }))).toBeUndefined();
    vi.stubEnv("EVE_DEV", "1");
    expect(localDev().hint!(request({ host: "localhost" }))).toBeUndefined();
  });

  test("none opens to everybody as one anonymous principal", () => {
    expect(ask(none())).toMatchObject({ principalType: "anonymous" });
  });
});
