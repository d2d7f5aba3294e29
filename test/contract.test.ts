import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "./support/build-workspace.ts";

interface Row {
  readonly line: number;
  readonly clause: string;
  readonly test: string;
}

const rows: Row[] = readFileSync(join(import.meta.dirname, "contract.md"), "utf8")
  .split("\n")
  .flatMap((text, index) => {
    if (!text.startsWith("|") || /^\| (?:clause|---) \|/.test(text)) return [];
    const [, clause = "", named = ""] = text.split("|").map((cell) => cell.trim());
    return [{ line: index + 1, clause, test: named }];
  });

test("every row names a clause and a test", () => {
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.filter(({ clause, test }) => !/^§\d+(?:\.\d+)? \S/.test(clause) || test === "")).toEqual([]);
  const pairs = rows.map(({ clause, test }) => `${clause} ${test}`);
  expect(pairs.filter((pair, index) => pairs.indexOf(pair) !== index)).toEqual([]);
});

test("every test that is named exists, under that title", () => {
  expect(rows.flatMap((row) => problemOf(row) ?? [])).toEqual([]);
});

function problemOf({ line, test: named }: Row): string | undefined {
  const [, path, link, title] = /^\[([^\]]+)\]\(([^)]+)\)(?: › (.+))?$/.exec(named) ?? [];
  if (path === undefined) return `line ${line}: "${named}" is not [file](../file) › title`;
  if (link !== `../${path}`) return `line ${line}: the link of ${path} leads to ${link}`;
  if (!existsSync(join(ROOT, path))) return `line ${line}: there is no ${path}`;
  if (title === undefined) return undefined;
  const source = readFileSync(join(ROOT, path), "utf8");
  const titles = ['"', "'", "`"].map((quote) => `${quote}${title}${quote}`);
  return titles.some((text) => source.includes(text)) ? undefined : `line ${line}: ${path} has no test "${title}"`;
}
