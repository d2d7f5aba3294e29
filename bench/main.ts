/** `pnpm bench`: this repository's runtime and the npm package `eve`, measured in turns in one run. */
import { loadavg } from "node:os";
import { parseOptions } from "./options.ts";
import { describeMachine, toTable, type Reported } from "./report.ts";
import { ROWS } from "./rows/index.ts";
import { toRow } from "./rows/row.ts";
import { createEve } from "./servers/eve.ts";
import { createFloor } from "./servers/floor.ts";
import { createOurs } from "./servers/ours.ts";
import type { Side } from "./servers/server.ts";

const options = parseOptions(process.argv.slice(2));
const say = (line: string): void => void process.stderr.write(`${line}\n`);
// The reaper ends what is left.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

const sides: Side[] = [];
const rows: Reported[] = [];
const machine = `${new Date().toISOString().slice(0, 10)}, ${describeMachine()}`;
say(`${machine}, load ${loadavg()[0]!.toFixed(1)}`);
try {
  sides.push(createFloor(), await createOurs());
  if (options.eve) sides.push(await createEve(say));
  for (const name of options.rows) rows.push(await measure(name));
} finally {
  for (const side of sides) side.dispose();
}
process.stdout.write(options.json ? `${JSON.stringify({ machine, rows }, null, 2)}\n` : `\n${toTable(rows)}\n`);
process.exitCode = rows.some((row) => "error" in row) ? 1 : 0;

async function measure(name: (typeof options.rows)[number]): Promise<Reported> {
  const spec = ROWS[name];
  const begun = performance.now();
  say(`${name}: ${spec.about}`);
  try {
    const results = await spec.measure({ sides, rounds: options.rounds, say: (line) => say(`  ${line}`) });
    say(`  ${((performance.now() - begun) / 1000).toFixed(0)} s`);
    return toRow(name, spec, results);
  } catch (error) {
    say(`  failed: ${error instanceof Error ? error.message : String(error)}`);
    return { name, error: error instanceof Error ? error.message : String(error) };
  }
}
