/**
 * Runs in a process of its own (see create-evaluator.ts): loads authored modules and sends back what they define. It ends
 * with the process, because a loaded module can not be unloaded and may keep timers and sockets open.
 */
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { AgentError, messageOf } from "../../errors.ts";
import type { EvaluateMessage, EvaluateRequest, Outcome } from "./evaluation.ts";
import { summarize } from "./summarize.ts";

type Loaders = Readonly<Record<string, () => Promise<Record<string, unknown>>>>;

/** How long one module is waited for before the next one starts beside it. */
const PATIENCE_MS = 2_000;

// Deep validation must not push the authored frame out of a stack.
Error.stackTraceLimit = 50;
// The build only reads definitions. What a module leaves running, and how that fails, is a matter of run time.
process.on("unhandledRejection", () => {});
process.on("uncaughtException", () => {});
// A build that was killed leaves no process behind.
process.on("disconnect", () => process.exit());
process.on("message", (request: EvaluateRequest) => {
  evaluate(request).catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
});

async function evaluate({ file, sources, timeoutMs }: EvaluateRequest): Promise<void> {
  const { loaders } = (await import(pathToFileURL(file).href)) as { loaders: Loaders };
  const pending = new Map<string, Promise<void>>();
  for (const source of sources) {
    // Sent before the module runs: one that never yields can not be named afterwards.
    await send({ type: "started", source });
    const settled = load(loaders[source]!).then((outcome) =>
      pending.delete(source) ? send({ type: "settled", source, outcome }) : undefined,
    );
    pending.set(source, settled);
    await Promise.race([settled, delay(PATIENCE_MS, undefined, { ref: false })]);
  }
  await Promise.race([Promise.all(pending.values()), delay(timeoutMs, undefined, { ref: false })]);
  for (const source of pending.keys()) {
    pending.delete(source);
    await send({ type: "settled", source, outcome: { status: "timeout" } });
  }
  await send({ type: "done" });
}

async function load(loader: Loaders[string]): Promise<Outcome> {
  try {
    const exports = await loader();
    if (!("default" in exports)) return { status: "no-default", names: Object.keys(exports) };
    return { status: "loaded", definition: summarize(exports.default) };
  } catch (error) {
    const option = AgentError.is(error) ? error.data?.option : undefined;
    return {
      status: "threw",
      message: messageOf(error),
      ...(error instanceof Error && error.stack !== undefined && { stack: error.stack }),
      ...(AgentError.is(error) && error.fix !== undefined && { fix: error.fix }),
      ...(typeof option === "string" && { option }),
    };
  }
}

function send(message: EvaluateMessage): Promise<void> {
  return new Promise((sent) => process.send!(message, () => sent()));
}
