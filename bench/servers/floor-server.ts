/**
 * The least that a durable turn can cost: requests over loopback, SQLite commits, an event on a stream; no engine, no
 * model, no checks. Speaks just enough of the protocol for the client of the bench.
 */
import { EventEmitter } from "node:events";
import http from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

const { PORT, FLOOR_STORE, BENCH_PEER_URL } = process.env;
const db = new DatabaseSync(join(FLOOR_STORE!, "floor.db"));
db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS log (session INTEGER, body TEXT);
  CREATE TABLE IF NOT EXISTS events (session INTEGER, idx INTEGER, body TEXT, PRIMARY KEY (session, idx)) WITHOUT ROWID;`);
const insertLog = db.prepare("INSERT INTO log VALUES (?, ?)");
const insertEvent = db.prepare("INSERT INTO events VALUES (?, ?, ?)");
const selectEvents = db.prepare("SELECT body FROM events WHERE session = ? AND idx >= ? ORDER BY idx");
const changes = new EventEmitter().setMaxListeners(0);
const lengths = new Map<number, number>();
const waiting = new Map<string, () => void>();
const agent = new http.Agent({ keepAlive: true });
let sessions = Number((db.prepare("SELECT max(session) AS last FROM log").get() as { last: number | null }).last ?? 0);

/** One commit: rows that nobody sees, and events. */
function commit(session: number, rows: readonly string[], events: readonly unknown[] = []): void {
  db.exec("BEGIN IMMEDIATE");
  for (const row of rows) insertLog.run(session, row);
  let index = lengths.get(session) ?? 0;
  for (const event of events) insertEvent.run(session, index++, JSON.stringify(event));
  db.exec("COMMIT");
  lengths.set(session, index);
  if (events.length > 0) changes.emit(String(session));
}

async function takeTurn(session: number, message: string, callback: string | undefined): Promise<void> {
  const [, kind = "plain", digits = "0"] = /bench:([a-z]+?)(\d*)$/.exec(message) ?? [];
  const amount = Number(digits);
  const names = Array.from({ length: amount }, (_, index) => `${kind}${index}`);
  const result = (type: string) => ({ type, data: { status: "completed" } });
  const shown: unknown[] = [];
  if (kind === "tool") {
    commit(session, ["calls"]);
    for (const name of names) commit(session, [name], [result("action.result")]);
  }
  if (kind === "sub") {
    // The parent's call, the child's reply, the parent's note of it: one commit each.
    commit(session, names);
    for (const name of names) {
      commit(++sessions, [name, "reply"]);
      commit(session, [name], [result("task.settled")]);
    }
  }
  if (kind === "peer") {
    commit(session, names);
    await Promise.all(names.map((name) => callPeer(`${session}-${Math.random()}`, name)));
    for (const name of names) shown.push(result("task.settled"), name && result("note"));
  }
  commit(session, ["response"], [...shown, { type: "session.waiting", data: {} }]);
  if (callback !== undefined) await post(callback, {});
}

async function callPeer(token: string, name: string): Promise<void> {
  const replied = new Promise<void>((resolve) => waiting.set(token, resolve));
  const callback = `http://127.0.0.1:${PORT}/eve/v1/callback/${token}`;
  await post(`${BENCH_PEER_URL}/eve/v1/session`, { message: "bench:plain", callback, name });
  await replied;
}

function post(url: string, body: unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method: "POST", agent }, (response) => {
      response.resume();
      response.on("end", resolve);
    });
    request.on("error", reject);
    request.end(JSON.stringify(body));
  });
}

async function accept(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
  const [, , , verb, id, more] = request.url!.split("?")[0]!.split("/");
  if (verb === "health") return void response.end("{}");
  if (more === "stream") return stream(Number(id), Number(/startIndex=(\d+)/.exec(request.url!)?.[1] ?? 0), response);
  let text = "";
  for await (const chunk of request) text += chunk;
  if (verb === "callback") {
    commit(0, [text]);
    waiting.get(id!)?.();
    waiting.delete(id!);
    return void response.end("{}");
  }
  const { message, callback } = JSON.parse(text) as { message: string; callback?: string };
  const session = id === undefined ? ++sessions : Number(id);
  commit(session, [text]);
  response.writeHead(202, { "content-type": "application/json" });
  response.end(JSON.stringify({ ok: true, sessionId: String(session), status: "accepted" }));
  setImmediate(() => void takeTurn(session, message, callback));
}

function stream(session: number, from: number, response: http.ServerResponse): void {
  let next = from;
  response.writeHead(200, { "content-type": "application/x-ndjson" });
  response.write("\n");
  const pump = (): void => {
    const lines = (selectEvents.all(session, next) as { body: string }[]).map(({ body }) => `${body}\n`);
    next += lines.length;
    if (lines.length > 0) response.write(lines.join(""));
  };
  changes.on(String(session), pump);
  response.on("close", () => changes.off(String(session), pump));
  pump();
}

const server = http.createServer((request, response) => void accept(request, response));
server.listen(Number(PORT), "127.0.0.1");
process.once("SIGTERM", () => {
  server.closeAllConnections();
  db.close();
  process.exit(0);
});
