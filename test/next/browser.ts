import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { tempFolder } from "../support/temp-folder.ts";
import { until } from "../support/until.ts";

/** A page in headless Chromium, driven over its own protocol. */
export interface Page extends AsyncDisposable {
  /** The value of an expression in the page; of a promise, what it resolves to. */
  evaluate(expression: string): Promise<unknown>;
}

/** The program, or `undefined` where none is installed. */
export function findChromium(): string | undefined {
  const names = ["chromium", "chromium-browser", "google-chrome"];
  return names.find((name) => spawnSync(name, ["--version"], { stdio: "ignore" }).status === 0);
}

export async function openPage(program: string, url: string): Promise<Page> {
  const profile = tempFolder();
  const flags = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
  ];
  const browser = spawn(program, [...flags, "--remote-debugging-port=0", `--user-data-dir=${profile.path}`, url], {
    stdio: "ignore",
  });
  const ended = once(browser, "exit");
  const address = await until("Chromium listens", async () => pageAddress(profile.path));
  const socket = new WebSocket(address);
  await once(socket, "open");
  const answers = new Map<number, (answer: any) => void>();
  socket.addEventListener("message", ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id?: number; result: unknown };
    if (id !== undefined) answers.get(id)?.(result);
  });
  let last = 0;
  return {
    evaluate: async (expression) => {
      const id = ++last;
      const answer = new Promise<{ result?: { value?: unknown } }>((resolve) => answers.set(id, resolve));
      const params = { expression, awaitPromise: true, returnByValue: true };
      socket.send(JSON.stringify({ id, method: "Runtime.evaluate", params }));
      return (await answer).result?.value;
    },
    [Symbol.asyncDispose]: async () => {
      socket.close();
      browser.kill();
      await ended;
      profile[Symbol.dispose]();
    },
  };
}

async function pageAddress(profile: string): Promise<string | undefined> {
  try {
    const [port] = readFileSync(join(profile, "DevToolsActivePort"), "utf8").split("\n");
    const targets = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as Record<string, string>[];
    return targets.find(({ type }) => type === "page")?.webSocketDebuggerUrl;
  } catch {
    return undefined;
  }
}
