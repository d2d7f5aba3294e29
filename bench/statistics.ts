/** The value below which the share `p` of the numbers lies. */
export function quantile(numbers: readonly number[], p: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))];
  if (value === undefined) throw new Error("Nothing was measured.");
  return value;
}

export function median(numbers: readonly number[]): number {
  // The mean of the middle two, for an even number of rounds must not favour one side.
  return (
    (quantile(numbers, 0.5) -
      quantile(
        numbers.map((value) => -value),
        0.5,
      )) /
    2
  );
}

export function round(value: number): number {
  return Number(value.toPrecision(value >= 100 ? 4 : 3));
}
