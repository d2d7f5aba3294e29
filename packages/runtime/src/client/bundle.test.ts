import { build, type BuildResult } from "esbuild";
import { join } from "node:path";
import { expect, test } from "vitest";

const PACKAGE = join(import.meta.dirname, "../..");
/** What a page may pay for it, minified. */
const MAX_BYTES = 12_000;

/** What a page gets that says this. */
function bundle(contents: string): Promise<BuildResult<{ write: false; metafile: true }>> {
  return build({
    stdin: { contents, resolveDir: PACKAGE, loader: "ts" },
    absWorkingDir: PACKAGE,
    bundle: true,
    minify: true,
    platform: "browser",
    format: "esm",
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
