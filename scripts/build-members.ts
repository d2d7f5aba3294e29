import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import type { Writable } from "node:stream";
import { writePeerStamps } from "./build-peers.ts";
import { showProgress } from "./build-progress.ts";

export interface MemberTask {
  readonly member: string;
  /** Of everything that its build depends on. */
  readonly hash: string;
  readonly cached: boolean;
  readonly ok: boolean;
}

export interface MembersBuild {
  readonly ok: boolean;
  readonly tasks: readonly MemberTask[];
}

/** Runs `eve build` in every member that changed, and says what became of each. */
export async function buildMembers(root: string, progress: Writable): Promise<MembersBuild> {
  writePeerStamps(root);
  const { code, summary } = await runTurbo(root, ["--output-logs=new-only", "--continue"], progress);
  return { ok: code === 0, tasks: (summary?.tasks ?? []).flatMap(toMemberTask) };
}

interface TurboTask {
  readonly directory: string;
  readonly hash: string;
  readonly cache: { readonly status: string };
  readonly execution?: { readonly exitCode: number };
}

function toMemberTask({ directory, hash, cache, execution }: TurboTask): MemberTask[] {
  if (!/^agents[\\/]/.test(directory)) return [];
  return [{ member: basename(directory), hash, cached: cache.status === "HIT", ok: execution?.exitCode === 0 }];
}

async function runTurbo(
  root: string,
  args: readonly string[],
  progress: Writable,
): Promise<{ code: number | null; summary: { tasks: TurboTask[] } | undefined }> {
  const runs = join(root, ".turbo/runs");
  rmSync(runs, { recursive: true, force: true });
  mkdirSync(runs, { recursive: true });
  const turbo = join(root, "node_modules/turbo/bin/turbo");
  const options = ["run", "build", "--filter=./agents/*", "--ui=stream", "--summarize", ...args];
  const child = spawn(process.execPath, [turbo, ...options], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      PATH: `${join(root, "node_modules/.bin")}:${process.env.PATH ?? ""}`,
      TURBO_TELEMETRY_DISABLED: "1",
      DO_NOT_TRACK: "1",
      TURBO_PRINT_VERSION_DISABLED: "1",
    },
  });
  showProgress([child.stdout, child.stderr], progress);
  const [code] = (await once(child, "close")) as [number | null];
  const [file] = readdirSync(runs);
  const summary = file === undefined ? undefined : JSON.parse(readFileSync(join(runs, file), "utf8"));
  return { code, summary };
}
