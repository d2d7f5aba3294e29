import { describe, expect, test } from "vitest";
import { checkCallbackUrl, isLoopback } from "./callback-url.ts";

const PUBLIC = { env: {}, own: "https://agents.example.com" };
const check =
  (url: string, around: Parameters<typeof checkCallbackUrl>[1] = PUBLIC) =>
  () =>
    checkCallbackUrl(url, around);

describe("callback URLs in production", () => {
  test.each(["https://caller.example/eve/x/v1/callback/t", "https://8.8.8.8/c", "https://[2606:4700::1111]/c"])(
    "%s is taken",
    (url) => expect(check(url)).not.toThrow(),
  );

  test.each([
    "http://caller.example/c",
    "https://ada:secret@caller.example/c",
    "https://localhost/c",
    "https://LOCALHOST./c",
    "https://a.localhost/c",
    "https://127.0.0.1/c",
    "https://127.1/c",
    "https://0x7f000001/c",
    "https://2130706433/c",
    "https://0.0.0.0/c",
    "https://10.1.2.3/c",
    "https://172.31.0.1/c",
    "https://192.168.1.1/c",
    "https://169.254.169.254/latest/meta-data",
    "https://100.64.0.1/c",
    "https://[::1]/c",
    "https://[::]/c",
    "https://[::ffff:127.0.0.1]/c",
    "https://[::ffff:10.0.0.1]/c",
    "https://[64:ff9b::7f00:1]/c",
    "https://[fd00::1]/c",
    "https://[fe80::1]/c",
    "https://metadata/c",
    "https://metadata.google.internal/c",
    "https://printer.local/c",
  ])("%s is 400 and names the field", (url) => {
    expect(check(url)).toThrow(
      expect.objectContaining({ code: "BAD_REQUEST", message: expect.stringContaining("callback.url") }),
    );
  });

  test("a configured peer, this member's own origin and its deployment may be anywhere", () => {
    const env = { EVE_PEER_LEAD_URL: "http://10.0.0.7:4001/eve/lead", VERCEL: "1", VERCEL_URL: "x.vercel.app" };
    const around = { env, own: "http://10.0.0.8:4000" };
    for (const origin of ["http://10.0.0.7:4001", "http://10.0.0.8:4000", "https://x.vercel.app"]) {
      expect(check(`${origin}/callback/t`, around)).not.toThrow();
    }
    expect(check("http://10.0.0.7:4002/callback/t", around)).toThrow("callback.url");
    expect(check("http://10.0.0.7:4001/callback/t", PUBLIC)).toThrow("callback.url");
  });

  test("neighbours on one machine call each other, and nothing else inside", () => {
    const around = { env: {}, own: "http://127.0.0.1:4000" };
    expect(check("http://127.0.0.1:4001/callback/t", around)).not.toThrow();
    expect(check("http://localhost:4001/callback/t", around)).not.toThrow();
    expect(check("http://192.168.1.1/callback/t", around)).toThrow("callback.url");
  });

  test.each([
    ["127.0.0.1", true],
    ["localhost", true],
    ["[::1]", true],
    ["127.0.0.1.example.com", false],
    ["localhost.example.com", false],
    ["10.0.0.1", false],
  ])("%s is loopback: %s", (name, is) => expect(isLoopback(name)).toBe(is));
});
