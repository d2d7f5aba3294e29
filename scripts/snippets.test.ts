import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");

/** The `ts` blocks of a page. */
function snippetsOf(page: string): string[] {
  const text = readFileSync(join(ROOT, page), "utf8");
  return [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code!);
}

/** What the compiler says of files that are not on disk. */
function diagnose(files: ReadonlyMap<string, string>): string[] {
  const { config } = ts.readConfigFile(join(ROOT, "tsconfig.base.json"), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, ROOT);
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile } = host;
  host.fileExists = (path) => files.has(path) || fileExists(path);
  host.readFile = (path) => files.get(path) ?? readFile(path);
  const program = ts.createProgram([...files.keys()], options, host);
  return [...files.keys()].flatMap((path) => {
    const file = program.getSourceFile(path)!;
    const found = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
    return found.map(({ messageText }) => `${path}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`);
  });
}

/** Every snippet goes on from the first of its page, unless it makes a client of its own. */
function toFiles(page: string): Map<string, string> {
  const [first = "", ...others] = snippetsOf(page);
  const whole = [first, ...others.map((code) => (/\bClient\b.* from/.test(code) ? code : `${first}${code}`))];
  const dir = join(ROOT, "docs/guides");
  return new Map(whole.map((code, index) => [join(dir, `snippet-${index}.mts`), code]));
}

test("the snippets of docs/guides/client.md compile", () => {
  const files = toFiles("docs/guides/client.md");
  expect(files.size).toBeGreaterThan(5);
  expect(diagnose(files)).toEqual([]);
});

test("the check above sees what does not", () => {
  const path = join(ROOT, "docs/guides/wrong.mts");
  const code = `import { Client } from "eve/client"; new Client({ hst: "" });`;
  expect(diagnose(new Map([[path, code]]))).toEqual([expect.stringContaining("'hst' does not exist")]);
});
