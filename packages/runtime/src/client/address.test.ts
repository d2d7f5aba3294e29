import { afterEach, describe, expect, test, vi } from "vitest";
import { toAddress, toSegment } from "./address.ts";

afterEach(() => void vi.unstubAllGlobals());

describe("a host", () => {
  test.each([
    ["https://a.example", "https://a.example/eve/v1/session"],
    ["https://a.example/", "https://a.example/eve/v1/session"],
    ["https://a.example/base", "https://a.example/base/eve/v1/session"],
    ["https://a.example/eve/foreman", "https://a.example/eve/foreman/v1/session"],
    ["https://a.example/eve/foreman/", "https://a.example/eve/foreman/v1/session"],
    ["https://a.example/base/eve/foreman", "https://a.example/base/eve/foreman/v1/session"],
    ["https://a.example/eve/foreman/v1", "https://a.example/eve/foreman/v1/session"],
    ["https://a.example/eve/v1", "https://a.example/eve/v1/session"],
    ["https://a.example/eve/Not_A_Member", "https://a.example/eve/Not_A_Member/eve/v1/session"],
    ["https://a.example/believe/foreman", "https://a.example/believe/foreman/eve/v1/session"],
    ["http://127.0.0.1:3000/eve/foreman?key=1#part", "http://127.0.0.1:3000/eve/foreman/v1/session?key=1"],
  ])("%s leads to %s", (host, url) => {
    expect(toAddress(host).api("/session").href).toBe(url);
  });

  test("its query is part of every URL, and a parameter of the request comes first", () => {
    const { api, named } = toAddress("https://a.example/eve/foreman?key=a+b&startIndex=9");
    expect(api("/x", { startIndex: 3, none: undefined }).search).toBe("?key=a+b&startIndex=3");
    expect(named("/eve/foreman/v1/y").href).toBe("https://a.example/eve/foreman/v1/y?key=a+b&startIndex=9");
  });

  test.each([
    ["https://a.example", "https://a.example/eve/v1/session/s/stream"],
    ["https://a.example/eve/foreman", "https://a.example/eve/v1/session/s/stream"],
    ["https://a.example/base/eve/foreman", "https://a.example/base/eve/v1/session/s/stream"],
    ["https://a.example/base/eve/v1", "https://a.example/base/eve/v1/session/s/stream"],
  ])("%s: a path that the agent names is below its base", (host, url) => {
    expect(toAddress(host).named("/eve/v1/session/s/stream").href).toBe(url);
  });

  test.each(["", "/base", "/eve/foreman"])("%j is relative to the page", (host) => {
    const address = toAddress(host);
    expect(() => address.api("/session")).toThrow(/^host: /);
    vi.stubGlobal("location", new URL("https://page.example/some/where?else"));
    const end = host === "/eve/foreman" ? "/eve/foreman/v1/session" : `${host}/eve/v1/session`;
    expect(address.api("/session").href).toBe(`https://page.example${end}`);
  });

  test.each(["ftp://a.example", "a.example:80x", "https://", "javascript:alert(1)", "https://ada:secret@a.example"])(
    "%s is refused at once, without being shown",
    (host) => {
      expect(() => toAddress(host)).toThrow(/^host: [^:]*$/);
    },
  );
});

test.each(["", ".", ".."])("%j is no id of a session", (id) => {
  expect(() => toSegment(id)).toThrow("not the id");
});

test("an id is one segment of a path", () => {
  expect(toAddress("https://a.example").api(`/session/${toSegment("a/../b?c#d%2e")}`).pathname).toBe(
    "/eve/v1/session/a%2F..%2Fb%3Fc%23d%252e",
  );
});
