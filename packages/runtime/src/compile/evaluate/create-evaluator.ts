import { fork, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { AgentError } from "../../errors.ts";
import type { EvaluateMessage, EvaluateRequest, Outcome } from "./evaluation.ts";

export interface Evaluator {
  /** Starts the process now, so that it is there when it is needed. */
  warm(): void;
  /** Loads modules of a bundle and says what each defines; never rejects because of authored code. */
  evaluate(file: string, sources: readonly string[]): Promise<ReadonlyMap<string, Outcome>>;
  close(): void;
}

/** How long the process may take before it reports the first module. */
const START_MS = 30_000;
/** Grace after the child's own deadline: only a child that never yields is killed from outside. */
const GRACE_MS = 1_000;

/**
 * Evaluates authored modules in a child process, started when first needed and again after a module ended or
 * blocked it, so that every other module is still read.
 *
 * @param quiet Drops what modules print while they load: during development they print it again when they are served.
 */
export function createEvaluator(timeoutMs: number, quiet = false): Evaluator {
  let child: ChildProcess | undefined;
  return {
    warm() {
      child ??= start(quiet);
    },
    async evaluate(file, sources) {
      const outcomes = new Map<string, Outcome>();
      for (let rest = sources; rest.length > 0; rest = sources.filter((source) => !outcomes.has(source))) {
        child ??= start(quiet);
        const survived = await run(child, { file, sources: rest, timeoutMs }, outcomes);
        if (!survived) child = undefined;
      }
      return outcomes;
    },
    close() {
      child?.kill("SIGKILL");
      child = undefined;
    },
  };
}

function start(quiet: boolean): ChildProcess {
  return fork(fileURLToPath(new URL("./child.ts", import.meta.url)), [], {
    execArgv: ["--enable-source-maps", "--disable-warning=ExperimentalWarning"],
    // What authored code prints while it loads must not mix with `--json` output.
    stdio: ["ignore", ...(quiet ? (["ignore", "ignore"] as const) : [2, 2]), "ipc"],
  });
}

/** Resolves to false when the child is gone; the module it was loading then has an outcome. */
function run(child: ChildProcess, request: EvaluateRequest, outcomes: Map<string, Outcome>): Promise<boolean> {
  return new Promise((resolve, reject) => {
    let loading: string | undefined;
    const giveUp = (): void => {
      child.kill("SIGKILL");
      finish({ status: "timeout" });
    };
    let timer = setTimeout(giveUp, START_MS);
    const finish = (outcome?: Outcome): void => {
      clearTimeout(timer);
      child.off("message", onMessage).off("exit", onExit);
      if (outcome === undefined) return resolve(true);
      if (loading === undefined) return reject(notStarted(child));
      outcomes.set(loading, outcome);
      resolve(false);
    };
    const onMessage = (message: EvaluateMessage): void => {
      clearTimeout(timer);
      timer = setTimeout(giveUp, request.timeoutMs + GRACE_MS);
      if (message.type === "started") loading = message.source;
      else if (message.type === "settled") outcomes.set(message.source, message.outcome);
      else finish();
    };
    const onExit = (code: number | null): void => {
      finish({ status: "threw", message: `it ended the process (exit code ${code ?? "none"})` });
    };
    child.on("message", onMessage).on("exit", onExit);
    // Without a callback a child that is gone raises an "error" event; "exit" says the same.
    child.send(request, () => {});
  });
}

function notStarted(child: ChildProcess): AgentError {
  const message = `The process that reads definitions did not start (exit code ${child.exitCode ?? "none"}).`;
  return new AgentError("INTERNAL", message, { fix: "Use Node 22.18 or newer, and see the output above." });
}
