import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { until } from "./until.ts";

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message: string };
}

interface Script {
  readonly scriptId: string;
  readonly url: string;
  readonly sourceMapURL?: string;
}

export interface Paused {
  /** Value of an expression in the frame where it stopped. */
  evaluate(expression: string): Promise<unknown>;
  resume(): Promise<unknown>;
}

/** A debugger as editors have them: it speaks the Chrome DevTools Protocol and reads source maps. */
export interface Debugger extends Disposable {
  /** Sets a breakpoint in every script that was made from that line, those that come later included. */
  breakAt(file: string, line: number): void;
  untilPaused(): Promise<Paused>;
  /** How many places the breakpoints are at. */
  readonly places: number;
}

/** @param host `host:port` of the inspector. */
export async function attachDebugger(host: string): Promise<Debugger> {
  const targets = (await (await fetch(`http://${host}/json/list`)).json()) as { webSocketDebuggerUrl: string }[];
  const socket = new WebSocket(targets[0]!.webSocketDebuggerUrl);
  await once(socket, "open");
  const replies = new Map<number, (message: Message) => void>();
  const scripts: Script[] = [];
  const wanted: { url: string; line: number }[] = [];
  const pauses: string[] = [];
  let places = 0;
  let count = 0;

  const send = async (method: string, params: object = {}): Promise<Record<string, unknown>> => {
    const id = ++count;
    const reply = new Promise<Message>((resolve) => replies.set(id, resolve));
    socket.send(JSON.stringify({ id, method, params }));
    const { result, error } = await reply;
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result!;
  };
  const place = async ({ scriptId, url, sourceMapURL }: Script, breakpoint: (typeof wanted)[number]): Promise<void> => {
    const generated = findGenerated(url, sourceMapURL, breakpoint);
    if (generated === undefined) return;
    await send("Debugger.setBreakpoint", { location: { scriptId, ...generated } });
    places++;
  };
  socket.addEventListener("message", ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    if (message.id !== undefined) return replies.get(message.id)?.(message);
    if (message.method === "Debugger.scriptParsed") {
      const script = message.params as unknown as Script;
      scripts.push(script);
      for (const breakpoint of wanted) void place(script, breakpoint);
    }
    if (message.method === "Debugger.paused") {
      const [frame] = message.params!.callFrames as { callFrameId: string }[];
      pauses.push(frame!.callFrameId);
    }
  });
  await send("Debugger.enable");

  return {
    breakAt: (file, line) => {
      const breakpoint = { url: pathToFileURL(file).href, line };
      wanted.push(breakpoint);
      for (const script of scripts) void place(script, breakpoint);
    },
    untilPaused: async () => {
      const callFrameId = await until("the debugger has paused", () => pauses.shift());
      return {
        evaluate: async (expression) => {
          const { result } = await send("Debugger.evaluateOnCallFrame", { callFrameId, expression });
          return (result as { value: unknown }).value;
        },
        resume: () => send("Debugger.resume"),
      };
    },
    get places() {
      return places;
    },
    [Symbol.dispose]: () => socket.close(),
  };
}

/** The first place of a script that its source map leads back to a line. */
function findGenerated(
  url: string,
  sourceMapURL: string | undefined,
  { url: source, line }: { url: string; line: number },
): { lineNumber: number; columnNumber: number } | undefined {
  if (!url.startsWith("file:") || !sourceMapURL || sourceMapURL.startsWith("data:")) return undefined;
  const mapUrl = new URL(sourceMapURL, url);
  const { sources, mappings } = JSON.parse(readFileSync(fileURLToPath(mapUrl), "utf8")) as {
    sources: string[];
    mappings: string;
  };
  const index = sources.findIndex((path) => new URL(path, mapUrl).href === source);
  if (index < 0) return undefined;
  const state = { source: 0, line: 0 };
  for (const [lineNumber, segments] of mappings.split(";").entries()) {
    let columnNumber = 0;
    for (const segment of segments.split(",").filter(Boolean)) {
      const [column = 0, toSource = 0, toLine = 0] = decodeVlq(segment);
      columnNumber += column;
      state.source += toSource;
      state.line += toLine;
      if (state.source === index && state.line === line - 1) return { lineNumber, columnNumber };
    }
  }
  return undefined;
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

function decodeVlq(text: string): number[] {
  const numbers: number[] = [];
  let value = 0;
  let shift = 0;
  for (const char of text) {
    const digit = DIGITS.indexOf(char);
    value += (digit & 31) << shift;
    shift += 5;
    if (digit & 32) continue;
    numbers.push(value & 1 ? -(value >> 1) : value >> 1);
    value = shift = 0;
  }
  return numbers;
}
