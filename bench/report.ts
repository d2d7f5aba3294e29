import { cpus, totalmem } from "node:os";
import { ROWS, type RowName } from "./rows/index.ts";
import type { Row } from "./rows/row.ts";

/** A row that could not be measured. */
export interface FailedRow {
  readonly name: string;
  readonly error: string;
}

export type Reported = Row | FailedRow;

const HEAD = ["row", "what", "ours", "eve", "floor", "ratio", "rounds", "bar", ""] as const;

/** The result as a table of Markdown, which also reads well in a terminal. */
export function toTable(rows: readonly Reported[]): string {
  const cells = rows.map((row) => ("error" in row ? [row.name, `failed: ${row.error.split("\n")[0]}`] : toCells(row)));
  const widths = HEAD.map((head, column) =>
    Math.max(head.length, ...cells.map((line) => (line.length > 2 ? line[column]!.length : 0))),
  );
  const toLine = (line: readonly string[]): string =>
    `| ${line.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(" | ")} |`;
  return [toLine(HEAD), `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`, ...cells.map(toLine)].join("\n");
}

function toCells(row: Row): string[] {
  const { name, unit, ours, eve, floor, ratio, spread, limit, met, details } = row;
  const figure = (value: number | null): string => (value === null ? "–" : `${value} ${unit}`);
  const tail = details["ours.p99OverP50"];
  return [
    name,
    `${ROWS[name as RowName].about}${tail === undefined ? "" : ` (p99/p50 ${String(tail)})`}`,
    figure(ours),
    figure(eve),
    figure(floor),
    ratio === null ? "–" : `${ratio}×`,
    spread === null ? "–" : `${spread[0]}–${spread[1]}`,
    limit,
    met === null ? "" : met ? "met" : "MISSED",
  ];
}

/** The machine, without its name. */
export function describeMachine(): string {
  const [first] = cpus();
  return `Node ${process.version.slice(1)}, ${process.platform} ${process.arch}, ${cpus().length} × ${first?.model.trim() || "CPU"}, ${Math.round(totalmem() / 1e9)} GB`;
}
