import { expect, test } from "vitest";
import { createAlarm, schedule } from "./alarm.ts";

/** An alarm with a clock and a timer of its own. */
function setUp(): {
  readonly alarm: ReturnType<typeof createAlarm>;
  readonly rang: number[];
  readonly waits: number[];
  readonly pending: () => number;
  readonly go: (ms: number) => void;
} {
  const clock = { now: 0 };
  const rang: number[] = [];
  const waits: number[] = [];
  let timer: { readonly at: number; readonly callback: () => void } | undefined;
  const alarm = createAlarm({
    now: () => clock.now,
    ring: () => rang.push(clock.now),
    schedule: (ms, callback) => {
      expect(timer).toBeUndefined();
      waits.push(ms);
      const own = (timer = { at: clock.now + ms, callback });
      return () => {
        if (timer === own) timer = undefined;
      };
    },
  });
  const go = (ms: number): void => {
    const end = clock.now + ms;
    while (timer !== undefined && timer.at <= end) {
      const { at, callback } = timer;
      timer = undefined;
      clock.now = at;
      callback();
    }
    clock.now = end;
  };
  return { alarm, rang, waits, pending: () => (timer === undefined ? 0 : 1), go };
}

test("rings once, at the earliest of the times it was set to", () => {
  const { alarm, rang, go, pending } = setUp();
  for (const at of [500, 200, 300]) alarm.set(at);
  expect(pending()).toBe(1);
  go(199);
  expect(rang).toEqual([]);
  go(1_000);
  expect(rang).toEqual([200]);
  expect(pending()).toBe(0);
});

test("a time in the past rings at once, not before", () => {
  const { alarm, rang, waits, go } = setUp();
  go(100);
  alarm.set(50);
  expect(waits).toEqual([0]);
  go(0);
  expect(rang).toEqual([100]);
});

test("a time that no timer of the process can wait for is reached in parts", () => {
  const { alarm, rang, waits, go } = setUp();
  const at = 90 * 86_400_000;
  alarm.set(at);
  go(at - 1);
  expect(rang).toEqual([]);
  go(1);
  expect(rang).toEqual([at]);
  expect(Math.max(...waits)).toBeLessThan(2 ** 31);
});

test("stopped, it never rings again", () => {
  const { alarm, rang, go, pending } = setUp();
  alarm.set(10);
  alarm.stop();
  alarm.set(5);
  expect(pending()).toBe(0);
  go(100);
  expect(rang).toEqual([]);
});

test("the timer of the process calls back, unless it is called off", async () => {
  const called: string[] = [];
  schedule(1, () => called.push("off"))();
  await new Promise<void>((resolve) => {
    const keep = setInterval(() => {}, 1_000);
    schedule(5, () => {
      clearInterval(keep);
      resolve();
    });
  });
  expect(called).toEqual([]);
});
