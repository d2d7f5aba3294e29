import { EventEmitter } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { AgentError } from "../../errors.ts";
import type { Address } from "../parse-address.ts";
import { createProxy, type Proxy } from "./proxy.ts";
import { answerUnavailable, type Unavailable } from "./unavailable.ts";

/** What becomes of a request. */
export type GateState =
  | OpenState
  /** `sessions`: the last good build, for the sessions that it has. */
  | { readonly kind: "broken"; readonly reason: Unavailable; readonly sessions?: OpenState };

type OpenState =
  /** The member starts: requests wait. */
  { readonly kind: "waiting"; readonly why: string } | { readonly kind: "serving"; readonly port: number };

export interface Gate {
  set(state: GateState): void;
  close(): Promise<void>;
}

/** How long a request waits for a member that starts. */
const PATIENCE_MS = 10_000;

/**
 * Listens at the public address of a member for as long as its supervisor lives, whatever happens behind it.
 *
 * @throws AgentError `PORT_IN_USE`
 */
export async function openGate(address: Address, first: GateState, patienceMs: number = PATIENCE_MS): Promise<Gate> {
  let state = first;
  const changes = new EventEmitter().setMaxListeners(0);
  const proxy = createProxy();

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const deadline = AbortSignal.timeout(patienceMs);
    for (;;) {
      const current = state;
      const open = openTo(request, current);
      const outcome = await pass(open, request, response, proxy);
      if (outcome === "done") return;
      const why = open.kind === "waiting" ? open.why : "The member is started again.";
      if (deadline.aborted) return answerUnavailable(request, response, toReason(why));
      if (state !== current) continue;
      await nextState(changes, response, deadline);
      if (response.destroyed) return;
    }
  };

  const server = createServer((request, response) => void answer(request, response));
  await listen(server, address);
  return {
    set: (next) => {
      state = next;
      changes.emit("change");
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      proxy.close();
      await closed;
    },
  };
}

function openTo(request: IncomingMessage, state: GateState): GateState {
  return state.kind === "broken" && isOfSession(request.url!) ? (state.sessions ?? state) : state;
}

async function pass(
  state: GateState,
  request: IncomingMessage,
  response: ServerResponse,
  proxy: Proxy,
): Promise<"done" | "wait"> {
  if (state.kind === "waiting") return "wait";
  if (state.kind === "broken") {
    answerUnavailable(request, response, state.reason);
    return "done";
  }
  const outcome = await proxy.forward(request, response, state.port);
  if (outcome === "lost") {
    answerUnavailable(request, response, toReason("The member ended while it worked on this request."));
  }
  return outcome === "unsent" ? "wait" : "done";
}

/** A request about something that exists already: a session, an answer that one waits for. */
export function isOfSession(url: string): boolean {
  return /^[^?]*\/v1\/(?:session|callback|webhook)\/[^/?]/.test(url);
}

function nextState(changes: EventEmitter, response: ServerResponse, deadline: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      changes.off("change", done);
      response.off("close", done);
      deadline.removeEventListener("abort", done);
      resolve();
    };
    changes.once("change", done);
    response.once("close", done);
    deadline.addEventListener("abort", done);
  });
}

function toReason(error: string): Unavailable {
  return { error, diagnostics: [] };
}

function listen(server: Server, { host, port }: Address): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EADDRINUSE") return reject(error);
      const fix = "Stop that process, or choose another port with --port.";
      reject(
        new AgentError("PORT_IN_USE", `Port ${port} of ${host} is in use by another process.`, {
          fix,
          data: { host, port },
        }),
      );
    });
    server.listen(port, host, resolve);
  });
}
