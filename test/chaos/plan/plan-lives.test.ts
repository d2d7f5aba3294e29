import { expect, test } from "vitest";
import { createRandom } from "../random.ts";
import { planLives } from "./plan-lives.ts";
import { planEndless, planMessage } from "./programs.ts";

const plan = (seed: number): unknown => {
  const random = createRandom(seed);
  const session = random.fork("session 0");
  return [
    planLives(random.fork("lives")),
    Array.from({ length: 20 }, () => [planMessage(session), planEndless(session)]),
  ];
};

test("a seed is a plan: the same one always, and another for another", () => {
  expect(plan(7)).toEqual(plan(7));
  expect(plan(7)).not.toEqual(plan(8));
});

test("the parts of a plan do not depend on how far another has got", () => {
  const [one, other] = [createRandom(7), createRandom(7)];
  other.fork("session 0").between(0, 9);
  expect(planLives(one.fork("lives"))).toEqual(planLives(other.fork("lives")));
});

test("numbers are spread over their range", () => {
  const random = createRandom(1);
  const counts = new Map<number, number>();
  for (let n = 0; n < 6_000; n++) {
    const number = random.between(1, 6);
    counts.set(number, (counts.get(number) ?? 0) + 1);
  }
  expect([...counts.keys()].toSorted()).toEqual([1, 2, 3, 4, 5, 6]);
  for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(150);
});
