import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import { AgentError } from "../../errors.ts";
import { openSqliteReader } from "../../host/sql/sqlite.ts";
import type { StoreReader } from "../../host/sql/store.ts";
import { checkKept } from "../../http/session/archive.ts";
import { createExportStream } from "../../http/session/export-stream.ts";
import { deleteSessions, forkSession, retrySession } from "./change.ts";
import { findSession } from "./find-session.ts";
import { readList, renderList, toJsonList } from "./list.ts";
import { locateStore } from "./locate-store.ts";
import { parseCommand, type ExportOptions, type ListOptions, type ShowOptions } from "./parse-command.ts";
import { readTree } from "./session-tree.ts";
import { renderSession, toJsonSession } from "./show.ts";

const HELP = `Usage: eve sessions [command] [flags]

  list               The newest sessions (the default)
    --limit <n>        How many (20)
    --status <s>       Only those that are working, waiting or ended
    --all              With the sessions that each has started
  show <id>          What was said and done in a session, and in those below it
    --full             Without cutting long texts
  export <id>        All events, as NDJSON
    --out <file>       Into a file
  delete <id>…       Deletes sessions, with those below each
    --yes              Without asking
  retry <id>         Does the last turn again, if it failed
  fork <id>          A new session that goes on with what was said
    --at <index>       Up to this event (the last one)

  --json             Print only JSON (not export)
  --member <name>    Of this member; without it, of the one in this folder
  --store <folder>   Of this store; without it, of the one that the member uses

An id may be shortened to a beginning that no other session has.
`;

/**
 * `eve sessions`: lists, shows, exports, deletes, retries and forks the sessions of a member, whoever they belong to.
 * Reading goes on beside a member that runs; what changes something is done by the member, or without it when it does
 * not run.
 *
 * @returns the exit code.
 * @throws AgentError `NOT_FOUND`, `STORE_UNUSABLE`, `STORE_LOCKED`, `MEMBER_UNAVAILABLE` and what the member answers.
 */
export async function sessions(args: string[]): Promise<number> {
  const command = parseCommand(args);
  if (command.name === "help") {
    print(HELP.trimEnd());
    return 0;
  }
  const place = locateStore(command.place, process.cwd(), process.env);
  const store = openSqliteReader(place.file);
  // Whoever reads what is printed may have seen enough.
  process.stdout.on("error", endWithReader);
  try {
    switch (command.name) {
      case "list":
        return await list(store, command.options);
      case "show":
        return await show(store, command.options);
      case "export":
        return await exportSession(store, command.options);
      case "delete":
        return await deleteSessions({ place, store, print }, command.options);
      case "retry":
        return await retrySession({ place, store, print }, command.options);
      case "fork":
        return await forkSession({ place, store, print }, command.options);
    }
  } finally {
    await store.close();
  }
}

async function list(store: StoreReader, options: ListOptions): Promise<number> {
  const found = await readList(store, options);
  if (options.json) {
    print(JSON.stringify({ sessions: toJsonList(found.sessions, options.all), more: found.more }, null, 2));
    return 0;
  }
  if (found.sessions.length === 0)
    print(options.status === undefined ? "no sessions" : `no sessions are ${options.status}`);
  else for (const line of renderList(found.sessions, Date.now())) print(line);
  if (found.more) print(`… and older ones: --limit ${options.limit * 2}`);
  return 0;
}

async function show(store: StoreReader, { id, full, json }: ShowOptions): Promise<number> {
  const head = await findSession(store, id);
  checkKept(head);
  const tree = await readTree(store, head);
  if (json) print(JSON.stringify(await toJsonSession(store, tree), null, 2));
  else for await (const line of renderSession(store, tree, { full })) print(line);
  return 0;
}

async function exportSession(store: StoreReader, { id, out }: ExportOptions): Promise<number> {
  const head = await findSession(store, id);
  checkKept(head);
  const ids = [head.sessionId, ...(await store.descendants(head.sessionId))];
  const stream = Readable.fromWeb(createExportStream(store, ids) as ReadableStream<Uint8Array>);
  if (out === undefined) {
    await pipeline(stream, process.stdout, { end: false });
    return 0;
  }
  try {
    // Conversations are nobody else's.
    await pipeline(stream, createWriteStream(out, { mode: 0o600 }));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (AgentError.is(error) || code === undefined) throw error;
    throw new AgentError("CONFIG_INVALID", `${out} can not be written (${code}).`, {
      fix: "Say another file with --out.",
      cause: error,
    });
  }
  return 0;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function endWithReader(error: NodeJS.ErrnoException): void {
  process.exit(error.code === "EPIPE" ? 0 : 1);
}
