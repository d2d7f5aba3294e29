import { setTimeout as delay } from "node:timers/promises";
import type { Member } from "../../support/member.ts";
import type { Death, MemberName } from "../history.ts";
import type { Life } from "../plan/plan-lives.ts";
import type { Watch } from "./watch.ts";

/** Nobody may have anything to say to a member that is away. */
const MAX_AWAY_MS = 1_500;
/** Many processes start on few cores, and how fast is not what is tested. */
const START_MS = 60_000;
/** What a process wrote before it died is read a moment after its death. */
const LAST_WORDS_MS = 500;

export interface Lives {
  /** Resolves when all lives but the last are over, and the last process answers. */
  readonly settled: Promise<void>;
  /** Ends the last life. */
  stop(): Promise<void>;
}

interface Options {
  readonly watch: Watch;
  /** Whether another member has asked something of this one since a time. */
  readonly isMissed: (since: number) => boolean;
}

/** Starts a member, and starts it again at once each time it dies. */
export function live(member: Member, lives: readonly Life[], { watch, isMissed }: Options): Lives {
  const name = member.name as MemberName;
  let last: Death | undefined;
  let stopped = false;

  const start = async (env: Readonly<Record<string, string>>): Promise<number | undefined> => {
    watch.moved(name, "away");
    await member.start(env, { timeoutMs: START_MS }).catch((error: unknown) => {
      watch.moved(name, "broken");
      throw error;
    });
    if (last !== undefined) last.backAt ??= Date.now();
    if (!member.running()) return undefined;
    watch.moved(name, "up");
    watch.note(`${name} is up (pid ${member.pid})`);
    return Date.now();
  };

  const die = async (life: Life): Promise<void> => {
    const said = member.log.length;
    const upAt = await start(envOf(life));
    const { pid } = member;
    const killer = arm(member, life, watch);
    await member.gone();
    killer.disarm();
    const at = killer.killedAt() ?? Date.now();
    const words = await lastWords(member, said, killer.killedAt() === undefined);
    const cause = words ?? killer.cause() ?? `by itself: ${member.log.slice(said).trim().slice(-400)}`;
    last = { member: name, pid: pid!, at, cause, ...(upAt === undefined ? {} : { upAt }) };
    watch.deaths.push(last);
    watch.moved(name, "away");
    watch.note(`${name} died (pid ${pid}): ${cause}`);
    if (!life.isMissed) return;
    const until = at + MAX_AWAY_MS;
    while (Date.now() < until && !isMissed(at)) await delay(15);
  };

  const settled = (async () => {
    for (const life of lives) await die(life);
    await start({});
    void member.gone().then(() => {
      if (!stopped) watch.unfinished.push(`${name} died by itself: ${member.log.slice(-400)}`);
    });
  })();
  return {
    settled,
    stop: async () => {
      stopped = true;
      await member.kill();
    },
  };
}

function envOf({ end }: Life): Record<string, string> {
  if (end.kind === "fault") return { EVE_FAULT_AT: end.point === undefined ? `${end.nth}` : `${end.nth}:${end.point}` };
  return end.kind === "doom" ? { TEST_DOOM: `${end.nth}:${end.line}` } : {};
}

interface Killer {
  disarm(): void;
  killedAt(): number | undefined;
  cause(): string | undefined;
}

function arm(member: Member, { end, withinMs }: Life, watch: Watch): Killer {
  let killedAt: number | undefined;
  let cause: string | undefined;
  const kill = (why: string): void => {
    if (!member.running() || killedAt !== undefined) return;
    killedAt = Date.now();
    cause = `signal: ${why}`;
    void member.kill();
  };
  const timers = [setTimeout(() => kill("time"), withinMs)];
  const forget = watch.onSee((what) => {
    if (end.kind !== "signal" || what !== end.seen) return;
    if (end.afterMs === 0) kill(what);
    else timers.push(setTimeout(() => kill(`${what}, ${end.afterMs} ms later`), end.afterMs));
  });
  return {
    disarm: () => {
      timers.forEach(clearTimeout);
      forget();
    },
    killedAt: () => killedAt,
    cause: () => cause,
  };
}

/** What a process wrote when it killed itself. */
async function lastWords(member: Member, said: number, isExpected: boolean): Promise<string | undefined> {
  const until = Date.now() + (isExpected ? LAST_WORDS_MS : 0);
  for (;;) {
    const [words] = /^(fault|doom) .+$/m.exec(member.log.slice(said)) ?? [];
    if (words !== undefined || Date.now() >= until) return words;
    await delay(5);
  }
}
