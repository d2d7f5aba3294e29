import { expect, test } from "vitest";
import { createTurnstile } from "./turnstile.ts";

const { signal } = new AbortController();

test("lets through so many at a time, the others in the order they came", async () => {
  const through = createTurnstile(2);
  const log: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string) =>
    through(() => {
      log.push(name);
      return new Promise<void>((resolve) => ends.set(name, resolve));
    }, signal);
  const all = ["a", "b", "c", "d"].map(work);
  await Promise.resolve();
  expect(log).toEqual(["a", "b"]);
  ends.get("b")!();
  await all[1];
  expect(log).toEqual(["a", "b", "c"]);
  ends.get("a")!();
  await all[0];
  expect(log).toEqual(["a", "b", "c", "d"]);
  ends.get("c")!();
  ends.get("d")!();
  await Promise.all(all);
});

test("who no longer wants to, waits no longer and takes no place; work that fails gives its place back", async () => {
  const through = createTurnstile(1);
  let end = (): void => {};
  const first = through(() => new Promise<void>((_, reject) => (end = () => reject(new Error("failed")))), signal);
  const leaving = new AbortController();
  const second = through(async () => "never", leaving.signal);
  const third = through(async () => "third", signal);
  leaving.abort(new Error("left"));
  await expect(second).rejects.toThrow("left");
  end();
  await expect(first).rejects.toThrow("failed");
  expect(await third).toBe("third");
  await expect(through(async () => "never", leaving.signal)).rejects.toThrow("left");
  expect(await through(async () => "fourth", signal)).toBe("fourth");
});
