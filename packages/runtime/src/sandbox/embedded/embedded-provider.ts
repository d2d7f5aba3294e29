import { rm } from "node:fs/promises";
import type { Sandbox, SandboxProvider } from "../../define/define-sandbox.ts";
import { createFiles, createFileSandbox, placesOf, resumeFiles, type FilePlaces } from "../files/file-sandbox.ts";
import { createRunning } from "../running.ts";
import { createTurnstile } from "../turnstile.ts";
import { runJob } from "./run-job.ts";

export const EMBEDDED = "embedded";

/** Each is a thread that may use a core and some 60 MB. */
const MAX_COMMANDS = 4;

/**
 * The default provider: a shell written in JavaScript (just-bash) over files beside the store. It starts no program of
 * the machine and has no network. Nothing is kept in memory between two commands.
 *
 * @param shell The module that a command's thread runs; asked at every command.
 */
export function embeddedProvider(shell: () => URL): SandboxProvider {
  const through = createTurnstile(MAX_COMMANDS);
  const running = createRunning();

  const open = (places: FilePlaces): Sandbox =>
    createFileSandbox(places, ({ signal, ...job }) =>
      running.run(places.id, signal, (either) => through(() => runJob(shell(), { ...places, ...job }, either), either)),
    );

  return {
    name: EMBEDDED,
    create: async ({ seed, ...request }) => open(await createFiles(request, seed)),
    resume: async (request) => {
      const places = await resumeFiles(request);
      return places && open(places);
    },
    delete: async (request) => {
      await running.end(request.id);
      await rm(placesOf(request).files, { recursive: true, force: true });
    },
  };
}
