import { readFileSync, writeFileSync } from "node:fs";

const PAGE = 4_096;
/** First byte of a page of SQLite that holds rows of a table without row ids, or entries of an index, and no pages below it. */
const LEAF = 10;

/** Overwrites one page of a database that holds `wanted` and not `spared`, as a bad disk would. */
export function overwritePage(file: string, { wanted, spared }: { wanted: string; spared: string }): void {
  const bytes = readFileSync(file);
  for (let start = PAGE; start < bytes.length; start += PAGE) {
    const page = bytes.subarray(start, start + PAGE);
    if (page[0] !== LEAF || !page.includes(wanted) || page.includes(spared)) continue;
    page.fill(0xff);
    writeFileSync(file, bytes);
    return;
  }
  throw new Error(`No page holds ${wanted} and not ${spared}.`);
}
