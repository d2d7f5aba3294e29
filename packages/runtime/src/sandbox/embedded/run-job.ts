import { Worker } from "node:worker_threads";
import { AgentError } from "../../errors.ts";
import type { RunResult } from "../../define/define-sandbox.ts";
import type { Job } from "./job.ts";

/** Of each stream; what is in the middle is left out. */
const MAX_OUTPUT_LENGTH = 512 * 1024;

/**
 * Runs a command in a thread, which is gone when this settles.
 *
 * @throws the reason of `signal` when that aborts.
 * @throws AgentError `SANDBOX_FAILED` when the thread fails for a reason that is not the command's.
 */
export function runJob(shell: URL, job: Job, signal: AbortSignal): Promise<RunResult> {
  signal.throwIfAborted();
  const worker = new Worker(shell, {
    workerData: job,
    // Nothing of the member: no variables, no flags, no terminal.
    env: {},
    execArgv: [],
    argv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 },
  });
  return new Promise<RunResult>((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    const timer = setTimeout(
      () => resolve(stopped(124, `the command took longer than ${job.timeoutMs / 1000} s`)),
      job.timeoutMs,
    );
    signal.addEventListener("abort", stop, { once: true });
    worker.once("message", ({ exitCode, stdout, stderr }: RunResult) =>
      resolve({ exitCode, stdout: clip(stdout), stderr: clip(stderr) }),
    );
    worker.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ERR_WORKER_OUT_OF_MEMORY") resolve(stopped(137, "the command needed too much memory"));
      else reject(toShellError(error));
    });
    worker.once("exit", () => reject(toShellError(new Error("its thread ended"))));
    worker.once("exit", () => clearTimeout(timer));
    worker.once("exit", () => signal.removeEventListener("abort", stop));
  }).finally(() => worker.terminate());
}

function stopped(exitCode: number, why: string): RunResult {
  return { exitCode, stdout: "", stderr: `bash: killed: ${why}\n` };
}

function clip(text: string): string {
  if (text.length <= MAX_OUTPUT_LENGTH) return text;
  const half = MAX_OUTPUT_LENGTH / 2;
  return `${text.slice(0, half)}\n[${text.length - 2 * half} characters left out]\n${text.slice(-half)}`;
}

function toShellError(cause: Error): AgentError {
  return new AgentError("SANDBOX_FAILED", `The shell of the sandbox did not run: ${cause.message}.`, {
    fix: "Try again; if it stays, look at the log of the member.",
    cause,
  });
}
