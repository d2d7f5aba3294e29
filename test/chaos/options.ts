import { parseArgs } from "node:util";

export interface Options {
  readonly first: number;
  /** Seeds to run; fewer when the time is up. */
  readonly count: number;
  readonly minutes: number;
  readonly json: boolean;
}

const HELP = `Usage: pnpm chaos [--seeds 20] [--seed 1] [--minutes m] [--json]

  --seeds <n>      How many seeds to run (20; with --minutes, as many as there is time for)
  --seed <s>       The first of them; alone, the only one
  --minutes <m>    Begins no seed after that time
  --json           Prints one JSON object a seed on stdout, and { "passed", "failed", "reached" } at the end
`;

/** Reads the command line; prints the help and ends for `--help` and for what it does not know. */
export function parseOptions(args: readonly string[]): Options {
  try {
    const { values } = parseArgs({
      args: args.filter((arg) => arg !== "--"),
      options: {
        seeds: { type: "string" },
        seed: { type: "string" },
        minutes: { type: "string" },
        json: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
    if (values.help) return end(HELP, 0);
    const first = values.seed === undefined ? 1 : toNumber("--seed", values.seed);
    const minutes = values.minutes === undefined ? Infinity : toNumber("--minutes", values.minutes);
    const many = values.minutes === undefined ? (values.seed === undefined ? 20 : 1) : Infinity;
    const count = values.seeds === undefined ? many : toNumber("--seeds", values.seeds);
    return { first, count, minutes, json: values.json };
  } catch (error) {
    return end(`${error instanceof Error ? error.message : String(error)}\n\n${HELP}`, 2);
  }
}

function toNumber(option: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`${option} takes a whole number from 1 on.`);
  return Number(text);
}

function end(text: string, code: number): never {
  (code === 0 ? process.stdout : process.stderr).write(text);
  process.exit(code);
}
