import { spawn } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../errors.ts";
import type { RunResult, Sandbox, SandboxProvider } from "../define/define-sandbox.ts";
import { createRunning } from "./running.ts";
import { createFiles, createFileSandbox, placesOf, resumeFiles, type FilePlaces } from "./files/file-sandbox.ts";

const MAX_OUTPUT_BYTES = 512 * 1024;

/** Runs `$1`, and ends it when the input closes: with the process that started it, however that dies. */
const GUARDED = `
exec 3<&0 </dev/null
{ read -r _ <&3; kill -9 0; } >/dev/null 2>&1 &
guard=$!
exec 3<&-
/bin/sh -c "$1"
code=$?
kill "$guard"
exit "$code"
`;

/**
 * Runs commands with the `/bin/sh` of this machine, as the user that the member runs as. **This isolates nothing**: a
 * command reads and writes whatever that user may, and reaches the network. Use it during development, with agents
 * whose every input you trust.
 *
 * A command starts in the folder that holds the files of `/workspace`; the path `/workspace` itself is not there.
 *
 * @example
 * export default defineSandbox({ provider: localProvider() });
 */
export function localProvider(): SandboxProvider {
  const running = createRunning();

  const open = (places: FilePlaces): Sandbox =>
    createFileSandbox(places, ({ command, cwd, env, timeoutMs, signal }) => {
      const program = { command, folder: join(places.files, cwd), home: join(places.files, "workspace"), env };
      return running.run(places.id, signal, (either) => runProgram(program, timeoutMs, either));
    });

  return {
    name: "local",
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

interface Program {
  readonly command: string;
  readonly folder: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
}

function runProgram(
  { command, folder, home, env }: Program,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<RunResult> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const child = spawn("/bin/sh", ["-c", GUARDED, "sh", command], {
      cwd: folder,
      env: { PATH: process.env.PATH ?? "/usr/bin:/bin", HOME: home, LANG: "C.UTF-8", AI_AGENT: "eve", ...env },
      stdio: ["pipe", "pipe", "pipe"],
      // A group of its own: what the command started is killed with it.
      detached: true,
    });
    const stdout = collect(child.stdout);
    const stderr = collect(child.stderr);
    let late = false;
    const kill = (): void => {
      try {
        process.kill(-child.pid!, "SIGKILL");
      } catch {
        // The group has ended by itself.
      }
    };
    const timer = setTimeout(() => {
      late = true;
      kill();
    }, timeoutMs);
    signal.addEventListener("abort", kill, { once: true });
    child.once("error", (error) => reject(new Error(`/bin/sh did not start: ${messageOf(error)}`, { cause: error })));
    child.once("close", (code) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", kill);
      if (signal.aborted) return reject(signal.reason);
      const why = late ? `sh: killed: the command took longer than ${timeoutMs / 1000} s\n` : "";
      resolve({ exitCode: late ? 124 : (code ?? 137), stdout: stdout(), stderr: stderr() + why });
    });
  });
}

/** What a stream says, without the middle of what is too long. */
function collect(stream: NodeJS.ReadableStream): () => string {
  const half = MAX_OUTPUT_BYTES / 2;
  let head = Buffer.alloc(0);
  let tail = Buffer.alloc(0);
  let dropped = 0;
  stream.on("data", (chunk: Buffer) => {
    const room = half - head.length;
    head = Buffer.concat([head, chunk.subarray(0, room)]);
    const rest = Buffer.concat([tail, chunk.subarray(room)]);
    dropped += Math.max(0, rest.length - half);
    tail = rest.subarray(Math.max(0, rest.length - half));
  });
  return () => `${head}${dropped === 0 ? "" : `\n[${dropped} bytes left out]\n`}${tail}`;
}
