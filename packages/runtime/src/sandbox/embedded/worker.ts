/**
 * Runs one command of the embedded shell, in a thread of its own that ends with it: a command that never ends is killed,
 * one that takes all memory ends only itself, and what it changed of the JavaScript around it is gone.
 */
import { parentPort, workerData } from "node:worker_threads";
import { Bash, getCommandNames, MountableFs, type BashOptions, type CommandName } from "just-bash";
import { messageOf } from "../../errors.ts";
import type { RunResult } from "../../define/define-sandbox.ts";
import { WORKSPACE } from "../files/locate.ts";
import { createTree } from "../files/tree.ts";
import type { Job } from "./job.ts";
import { toFileSystem } from "./tree-file-system.ts";

const MIB = 1024 * 1024;

/** What no command needs. The time it may take is kept from outside, so the counts of loops only bound memory. */
const LIMITS: BashOptions["executionLimits"] & object = {
  maxCommandCount: 1_000_000,
  maxLoopIterations: 1_000_000,
  maxAwkIterations: 10_000_000,
  maxSedIterations: 10_000_000,
  maxOutputSize: 16 * MIB,
  maxStringLength: 32 * MIB,
  maxHeredocSize: 8 * MIB,
  maxSourceBytes: 8 * MIB,
  maxLiveBytes: 128 * MIB,
  maxInputBytes: 128 * MIB,
  maxFileSystemBytes: 32 * MIB,
  maxArchiveBytes: 64 * MIB,
  maxArchiveEntryBytes: 64 * MIB,
  maxArchiveCompressedBytes: 64 * MIB,
  maxArchiveEntries: 20_000,
  maxTraversalEntries: 100_000,
};

/** Commands whose engine is not part of a function (see `compile/bundle/bundle-shell.ts`). */
const LEFT_OUT: ReadonlySet<string> = new Set(["sqlite3", "html-to-markdown"]);
const NOT_HERE = /command not available in browser environments\. [^\n]*/g;

const job = workerData as Job;
const commands = getCommandNames().filter((name) => !LEFT_OUT.has(name)) as CommandName[];
const { fs: base } = new Bash({ executionLimits: LIMITS, commands });
const tree = createTree(job.files, job.drafts);
const mounts = ["/workspace", "/tmp"].map((mountPoint) => ({ mountPoint, filesystem: toFileSystem(tree, mountPoint) }));
const shell = new Bash({
  fs: new MountableFs({ base, mounts }),
  cwd: job.cwd,
  env: { HOME: WORKSPACE, LANG: "C.UTF-8", AI_AGENT: "eve", ...job.env },
  executionLimits: LIMITS,
  commands,
  // The thread runs nothing else, so what it takes away is missed by nobody.
  defenseInDepth: { enabled: true, processLifetimeIntrinsicHardening: true },
});
parentPort!.postMessage(await run());

async function run(): Promise<RunResult> {
  try {
    const { exitCode, stdout, stderr } = await shell.exec(job.command);
    return { exitCode, stdout, stderr: stderr.replace(NOT_HERE, "command not found") };
  } catch (error) {
    // A redirection that can not be written, for example: the shell lets what the files say pass through.
    return { exitCode: 1, stdout: "", stderr: `bash: ${messageOf(error)}\n` };
  }
}
