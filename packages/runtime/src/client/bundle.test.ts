import { build, type BuildResult } from "esbuild";
import { join } from "node:path";
import { createContext, runInContext } from "node:vm";
import { expect, test } from "vitest";
import { createTestApp, saying } from "../http/app.fixture.ts";
import { serveApp } from "../http/serve-app.fixture.ts";
import type { Client, ClientOptions } from "./index.ts";

const PACKAGE = join(import.meta.dirname, "../..");
/** What a page may pay for it, minified. */
const MAX_BYTES = 12_000;

/** What a page gets that says this. */
function bundle(
  contents: string,
  format: "esm" | "iife" = "esm",
): Promise<BuildResult<{ write: false; metafile: true }>> {
  return build({
    stdin: { contents, resolveDir: PACKAGE, loader: "ts" },
    absWorkingDir: PACKAGE,
    bundle: true,
    minify: true,
    platform: "browser",
    format,
    globalName: "eve",
    target: "es2022",
    write: false,
    metafile: true,
    logLevel: "silent",
  });
}

test("a page that imports the client gets the client: no module of Node, none of a server, little in all", async () => {
  const { outputFiles, metafile } = await bundle('export * from "eve/client";');
  const inputs = Object.keys(metafile.inputs).filter((path) => path !== "<stdin>");
  expect(inputs).toContain("src/client/client.ts");
  expect(inputs.filter((path) => !path.startsWith("src/client/"))).toEqual([]);
  expect(Object.values(metafile.outputs).flatMap(({ imports }) => imports)).toEqual([]);
  const [{ text, contents } = { text: "", contents: new Uint8Array() }] = outputFiles;
  expect(text).toContain("x-eve-stream-version");
  expect(text).not.toMatch(/node:|require\(|process\./);
  expect(contents.byteLength).toBeLessThan(MAX_BYTES);
});

test("the check above would see a server", async () => {
  await expect(bundle('export * from "eve/serve";')).rejects.toThrow(/node:/);
});

test("it runs with nothing but what every page has", async () => {
  const { outputFiles } = await bundle('export * from "eve/client";', "iife");
  const { fetch, Headers, TextDecoder, TextEncoder, AbortController, AbortSignal } = globalThis;
  const api = await serveApp(await createTestApp({ perform: saying("Hello.") }));
  const web = { fetch, Headers, URL, TextDecoder, TextEncoder, AbortController, AbortSignal };
  const page = createContext({ ...web, btoa, setTimeout, clearTimeout, location: new URL(api) });
  const eve = runInContext(`${outputFiles[0]!.text}; eve`, page) as { Client: new (options: ClientOptions) => Client };
  const client = new eve.Client({ host: new URL(api).pathname, headers: { "x-user": "ada" } });
  const { session, response } = await client.sessions.create({ message: "hello" });
  expect((await response.result()).message).toBe("Hello.");
  expect((await (await session.send("more")).result()).turnId).toBe("turn_1");
  const basic = new eve.Client({ host: api, auth: { basic: { username: "ada", password: "x" } } });
  await expect(basic.info()).rejects.toMatchObject({ name: "ClientError", status: 401 });
});
