import { median, round } from "../statistics.ts";
import type { Side } from "../servers/server.ts";

export type SideName = Side["name"];
export type Details = Readonly<Record<string, number | string | boolean>>;

/** One line of the result. */
export interface Row {
  readonly name: string;
  readonly unit: string;
  readonly ours: number;
  readonly eve: number | null;
  readonly floor: number | null;
  /** How many times better ours is than eve, whichever direction is better. */
  readonly ratio: number | null;
  /** Lowest and highest ratio of a round: what to think of `ratio`. */
  readonly spread: readonly [number, number] | null;
  readonly limit: string;
  /** `null` when what it is compared with was not measured. */
  readonly met: boolean | null;
  readonly details: Details;
}

export interface Measured {
  /** One figure per round. */
  readonly figures: readonly number[];
  readonly details?: Details;
}

export type Results = { readonly ours: Measured } & { readonly [name in SideName]?: Measured };

export interface Bench {
  readonly sides: readonly Side[];
  readonly rounds: number;
  readonly say: (line: string) => void;
}

export interface Spec {
  readonly unit: string;
  /** What the figure is, in a few words. */
  readonly about: string;
  readonly higherIsBetter?: boolean;
  /** The bar, in words and as a test. */
  readonly limit: string;
  readonly met: (row: {
    readonly ours: number;
    readonly ratio: number | null;
    readonly details: Details;
  }) => boolean | null;
  readonly measure: (bench: Bench) => Promise<Results>;
}

export function toRow(name: string, spec: Spec, results: Results): Row {
  const figure = (side: SideName): number | null => {
    const measured = results[side];
    return measured === undefined ? null : round(median(measured.figures));
  };
  const better = (ours: number, eve: number): number => (spec.higherIsBetter ? ours / eve : eve / ours);
  const ours = median(results.ours.figures);
  // Of the rounds, not of the medians: the two figures of a round saw the same machine.
  const paired = results.eve?.figures.flatMap((eve, index) => {
    const mine = results.ours.figures[index];
    return mine === undefined ? [] : [better(mine, eve)];
  });
  const ratio = paired === undefined || paired.length === 0 ? null : round(median(paired));
  const details = Object.fromEntries(
    Object.entries(results).flatMap(([side, measured]) =>
      Object.entries(measured?.details ?? {}).map(([key, value]) => [
        `${side}.${key}`,
        typeof value === "number" ? round(value) : value,
      ]),
    ),
  );
  return {
    name,
    unit: spec.unit,
    ours: round(ours),
    eve: figure("eve"),
    floor: figure("floor"),
    ratio,
    spread:
      paired === undefined || paired.length === 0 ? null : [round(Math.min(...paired)), round(Math.max(...paired))],
    limit: spec.limit,
    met: spec.met({ ours, ratio, details }),
    details,
  };
}

/** A bar on the ratio to eve. */
export function atLeast(times: number): Pick<Spec, "limit" | "met"> {
  return { limit: `≥ ${times}×`, met: ({ ratio }) => (ratio === null ? null : ratio >= times) };
}

/** A bar on our own figure. */
export function atMost(most: number, unit: string): Pick<Spec, "limit" | "met"> {
  return { limit: `≤ ${most} ${unit}`.trim(), met: ({ ours }) => ours <= most };
}

export const NO_LIMIT: Pick<Spec, "limit" | "met"> = { limit: "–", met: () => null };

/** Lets the sides take turns, so that what else the machine does hits them alike. */
export async function alternate(
  { sides, rounds, say }: Bench,
  measure: (side: Side, round: number) => Promise<readonly number[]>,
): Promise<Record<SideName, number[][]>> {
  const all: Record<SideName, number[][]> = { ours: [], eve: [], floor: [] };
  for (let at = 0; at < rounds; at++) {
    for (const side of at % 2 === 0 ? sides : sides.toReversed()) {
      const figures = await measure(side, at);
      all[side.name].push([...figures]);
      say(`round ${at + 1}/${rounds} ${side.name}: ${round(median(figures))}`);
    }
  }
  return all;
}

/** The median of each round, per side that was measured. */
export function byRound(
  all: Record<SideName, number[][]>,
  details: (rounds: number[][]) => Details = () => ({}),
): Results {
  const entries = Object.entries(all).filter(([, rounds]) => rounds.length > 0);
  return Object.fromEntries(
    entries.map(([side, rounds]) => [side, { figures: rounds.map(median), details: details(rounds) }]),
  ) as unknown as Results;
}
