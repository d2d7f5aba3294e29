import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { buildWorkspace } from "./support/build-workspace.ts";
import { readLines } from "./support/event-reader.ts";
import { createMember, type Member } from "./support/member.ts";
import { postJson } from "./support/post-json.ts";
import { until } from "./support/until.ts";

/** Deltas that can not be joined: a stream of about 30 MB. */
const DELTAS = 100_000;
const READERS = 16;
/** What all stalled readers may cost, with what a heap grows by meanwhile. Readers without a bound cost 600. */
const BOUND_MB = 200;

test("§17 readers that stall while 100,000 deltas are written cost the member next to nothing", async () => {
  using workspace = await buildWorkspace(["test/fixtures/flood"]);
  await using member = await createMember("flood", workspace.server("flood"));
  await member.start();

  // First without readers, until the heap has its size: what writing costs is not theirs.
  await flood(member, 0);
  await flood(member, 0);
  const before = rssMb(member);
  const { url, stalled } = await flood(member, READERS);
  expect(rssMb(member) - before, "MB more with stalled readers").toBeLessThan(BOUND_MB);

  // One that reads on after all that has lost nothing.
  const [first, ...others] = stalled;
  for (const response of others) response.destroy();
  const lines = await readLines(`${url}?follow=false`);
  expect(lines.length).toBeGreaterThan(DELTAS);
  await postJson(url.replace(/stream$/, "reset"), {});
  const whole = (await text(first!)).split("\n").filter((line) => line !== "");
  expect(whole.slice(0, -1)).toEqual(lines);
});

/** A session in which the deltas are written while `readers` of its stream take the headers and nothing more. */
async function flood({ api }: Member, readers: number): Promise<{ url: string; stalled: IncomingMessage[] }> {
  const { body } = await postJson(`${api}/session`, {});
  const session = `${api}/session/${String(body.sessionId)}`;
  const url = `${session}/stream`;
  const stalled = await Promise.all(Array.from({ length: readers }, () => open(url)));
  await postJson(session, { message: `flood ${DELTAS}` });
  await until(
    "the flood is over",
    async () => (await readLines(`${url}?startIndex=-1&follow=false`))[0]?.includes('"session.waiting"'),
    { timeoutMs: 90_000 },
  );
  return { url, stalled };
}

async function open(url: string): Promise<IncomingMessage> {
  const [response] = await once(get(url, { agent: false }), "response");
  return response as IncomingMessage;
}

function rssMb({ pid }: Member): number {
  return Number(spawnSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" }).stdout) / 1024;
}
