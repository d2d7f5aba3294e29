import { parseArgs, type ParseArgsConfig } from "node:util";
import { usageError } from "../usage-error.ts";

/** Where the store is. */
export interface Place {
  readonly member?: string | undefined;
  readonly store?: string | undefined;
}

export interface ListOptions {
  readonly limit: number;
  readonly status: "working" | "waiting" | "ended" | undefined;
  /** With the sessions below each. */
  readonly all: boolean;
  readonly json: boolean;
}

export interface ShowOptions {
  readonly id: string;
  readonly full: boolean;
  readonly json: boolean;
}

export interface ExportOptions {
  readonly id: string;
  readonly out: string | undefined;
}

export interface DeleteOptions {
  readonly ids: readonly string[];
  /** Do not ask. */
  readonly yes: boolean;
  readonly json: boolean;
}

export interface RetryOptions {
  readonly id: string;
  readonly json: boolean;
}

export interface ForkOptions extends RetryOptions {
  readonly at: number | undefined;
}

/** What is asked for, and of which store. */
export type SessionsCommand = { readonly place: Place } & (
  | { readonly name: "help" }
  | { readonly name: "list"; readonly options: ListOptions }
  | { readonly name: "show"; readonly options: ShowOptions }
  | { readonly name: "export"; readonly options: ExportOptions }
  | { readonly name: "delete"; readonly options: DeleteOptions }
  | { readonly name: "retry"; readonly options: RetryOptions }
  | { readonly name: "fork"; readonly options: ForkOptions }
);

const TEXT = { type: "string" } as const;
const FLAG = { type: "boolean", default: false } as const;
const PLACE = { member: TEXT, store: TEXT } as const;
const STATUSES = ["working", "waiting", "ended"] as const;
const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 1_000;

/**
 * The arguments of `eve sessions`; without a name it is `list`.
 *
 * @throws a usage error (exit code 2)
 */
export function parseCommand(args: readonly string[]): SessionsCommand {
  const named = args[0] !== undefined && !args[0].startsWith("-");
  const name = named ? args[0]! : "list";
  const rest = named ? args.slice(1) : [...args];
  if (name === "help" || rest.includes("--help") || rest.includes("-h")) return { name: "help", place: {} };
  switch (name) {
    case "list": {
      const { values, place } = parse(rest, { limit: TEXT, status: TEXT, all: FLAG, json: FLAG }, 0);
      const { all, json } = values;
      return {
        name,
        place,
        options: { limit: parseLimit(values.limit), status: parseStatus(values.status), all, json },
      };
    }
    case "show": {
      const { values, place, ids } = parse(rest, { full: FLAG, json: FLAG }, 1);
      return { name, place, options: { id: ids[0]!, full: values.full, json: values.json } };
    }
    case "export": {
      const { values, place, ids } = parse(rest, { out: TEXT }, 1);
      return { name, place, options: { id: ids[0]!, out: values.out } };
    }
    case "delete": {
      const { values, place, ids } = parse(rest, { yes: FLAG, json: FLAG }, Infinity);
      return { name, place, options: { ids, yes: values.yes, json: values.json } };
    }
    case "retry": {
      const { values, place, ids } = parse(rest, { json: FLAG }, 1);
      return { name, place, options: { id: ids[0]!, json: values.json } };
    }
    case "fork": {
      const { values, place, ids } = parse(rest, { at: TEXT, json: FLAG }, 1);
      return { name, place, options: { id: ids[0]!, at: parseIndex(values.at), json: values.json } };
    }
    default:
      throw usageError(`there is no "${name}"; there are list, show, export, delete, retry and fork.`);
  }
}

type Flags = NonNullable<ParseArgsConfig["options"]>;
type Values<F extends Flags> = ReturnType<typeof parseArgs<{ args: string[]; options: F & typeof PLACE }>>["values"];

function parse<F extends Flags>(
  args: string[],
  flags: F,
  most: number,
): { readonly values: Values<F>; readonly place: Place; readonly ids: readonly string[] } {
  const { values, positionals: ids } = parseArgs({
    args,
    options: { ...flags, ...PLACE },
    allowPositionals: true,
  });
  for (const [name, value] of Object.entries(values)) {
    if (value === "") throw usageError(`--${name} must not be empty.`);
  }
  if (most > 0 && (ids.length === 0 || ids.includes(""))) {
    throw usageError("the id of a session is missing: `eve sessions` lists them.");
  }
  if (ids.length > most) throw usageError(`"${ids[most]}" is one too many.`);
  const { member, store } = values as Place;
  if (member !== undefined && store !== undefined) throw usageError("--member and --store name two stores: use one.");
  return { values: values as Values<F>, place: { member, store }, ids };
}

function parseLimit(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LIMIT;
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw usageError(`--limit must be a whole number from 1 to ${MAX_LIMIT}, not "${text}".`);
}

function parseStatus(text: string | undefined): ListOptions["status"] {
  const status = STATUSES.find((known) => known === text);
  if (text === undefined || status !== undefined) return status;
  throw usageError(`--status must be ${STATUSES.join(", ").replace(/, (\w+)$/, " or $1")}, not "${text}".`);
}

function parseIndex(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw usageError(`--at must be the index of an event, as \`eve sessions show\` says it, not "${text}".`);
}
