import { AgentError } from "../errors.ts";

/** The commands that run now, by sandbox: who deletes one ends them first. */
export function createRunning(): {
  /** Runs `work` with a signal that also aborts when the sandbox is deleted. */
  run<T>(id: string, signal: AbortSignal, work: (either: AbortSignal) => Promise<T>): Promise<T>;
  /** Ends what runs in a sandbox, and waits until it has. */
  end(id: string): Promise<void>;
} {
  const running = new Map<string, Map<AbortController, Promise<unknown>>>();
  return {
    run: async (id, signal, work) => {
      const end = new AbortController();
      const own = running.get(id) ?? new Map<AbortController, Promise<unknown>>();
      const result = work(AbortSignal.any([signal, end.signal]));
      running.set(id, own.set(end, result));
      try {
        return await result;
      } finally {
        own.delete(end);
        if (own.size === 0 && running.get(id) === own) running.delete(id);
      }
    },
    end: async (id) => {
      const own = [...(running.get(id) ?? [])];
      for (const [end] of own) {
        end.abort(new AgentError("SANDBOX_FAILED", "The sandbox was deleted.", { fix: "Start a new session." }));
      }
      await Promise.allSettled(own.map(([, result]) => result));
    },
  };
}
