import { parseArgs } from "node:util";
import { ROWS, type RowName } from "./rows/index.ts";

export interface Options {
  readonly rows: readonly RowName[];
  readonly rounds: number;
  readonly eve: boolean;
  readonly json: boolean;
}

const HELP = `Usage: pnpm bench [--only plain,sub1] [--rounds 5] [--no-eve] [--json]

  --only <rows>     Some of: ${Object.keys(ROWS).join(", ")}
  --rounds <n>      How often the sides take turns (5)
  --no-eve          Without the npm package eve: nothing is installed
  --json            Print { "rows": [...] } on stdout; progress goes to stderr
`;

/** Reads the command line; prints the help and ends for `--help` and for what it does not know. */
export function parseOptions(args: readonly string[]): Options {
  try {
    const { values } = parseArgs({
      args: args.filter((arg) => arg !== "--"),
      options: {
        only: { type: "string" },
        rounds: { type: "string", default: "5" },
        eve: { type: "boolean", default: true },
        json: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
      allowNegative: true,
    });
    if (values.help) return end(HELP, 0);
    const rows = values.only?.split(",").map((name) => name.trim()) ?? Object.keys(ROWS);
    const unknown = rows.find((name) => !Object.hasOwn(ROWS, name));
    if (unknown !== undefined) throw new Error(`There is no row "${unknown}".`);
    const rounds = Number(values.rounds);
    if (!Number.isInteger(rounds) || rounds < 1 || rounds > 100) throw new Error("--rounds takes 1 to 100.");
    return { rows: rows as RowName[], rounds, eve: values.eve, json: values.json };
  } catch (error) {
    return end(`${error instanceof Error ? error.message : String(error)}\n\n${HELP}`, 2);
  }
}

function end(text: string, code: number): never {
  (code === 0 ? process.stdout : process.stderr).write(text);
  process.exit(code);
}
