import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { messageOf } from "../errors.ts";

/** Frames that say nothing to an author: Node itself, installed packages, and what was bundled. */
const FOREIGN = /\((?:node:|native)|at (?:async )?node:|[\\/]node_modules[\\/]|[\\/]\.eve[\\/]|<anonymous>\)?$/;
const OWN_PATH = /\/[^()]*[\\/](?=effects[\\/]authored-stack\.ts:\d+:\d+)/;
const FRAME = /^\s+at /;
const PLACE = /((?:file:\/\/)?\/[^()]*?):(\d+):\d+\)?$/;

/**
 * What went wrong and where in authored code, with paths below the working directory shortened. `EVE_DEBUG=1` keeps
 * every frame.
 */
export function formatStack(error: unknown, env: Readonly<Record<string, string | undefined>>): string {
  if (!(error instanceof Error) || typeof error.stack !== "string") return `Uncaught: ${messageOf(error)}`;
  if (env.EVE_DEBUG === "1") return error.stack;
  const runtime = locateRuntime();
  const lines = error.stack.split("\n").filter((line) => !FRAME.test(line) || isAuthored(line, runtime));
  return lines.map(shorten).join("\n");
}

/** What went wrong in one line, and where in the member: `boom (agents/foreman/agent/tools/count_words.ts:12)`. */
export function describeFailure(error: unknown, member: string): string {
  const place = authoredPlace(error, member);
  const message = messageOf(error).replace(/\s*\n\s*/g, " ");
  return place === undefined ? message : `${message} (${place})`;
}

/** Where authored code of a member threw, if a frame says it. */
function authoredPlace(error: unknown, member: string): string | undefined {
  // A list of call sites, where a package has asked for those.
  if (!(error instanceof Error) || typeof error.stack !== "string") return undefined;
  const place = new RegExp(`[/\\\\]agents[/\\\\]${member}[/\\\\](agent[/\\\\][^:()]+):(\\d+):\\d+`);
  for (const line of error.stack.split("\n")) {
    const [, path, number] = (FRAME.test(line) && place.exec(line)) || [];
    if (path !== undefined) return `agents/${member}/${path.replaceAll("\\", "/")}:${number}`;
  }
  return undefined;
}

function isAuthored(frame: string, runtime: string | undefined): boolean {
  return PLACE.test(frame) && !FOREIGN.test(frame) && !(runtime !== undefined && frame.includes(runtime));
}

/** Where the sources of this runtime are in the words of a stack: a source map leads there from a bundle, too. */
function locateRuntime(): string | undefined {
  return OWN_PATH.exec(new Error().stack ?? "")?.[0].replace(/^\/+/, "/");
}

function shorten(line: string): string {
  return line.replace(PLACE, (place, path: string) => {
    const file = path.startsWith("file:") ? fileURLToPath(path) : path;
    const short = relative(process.cwd(), file);
    return short.startsWith("..") ? place : place.replace(path, short);
  });
}
