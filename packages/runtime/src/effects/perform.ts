import type { Perform } from "../engine/ports.ts";
import type { Registry } from "../registry/registry.ts";
import type { Sandboxes } from "../sandbox/sandboxes.ts";
import type { CallbackTokens } from "../transport/callback-token.ts";
import { callModel } from "./call-model.ts";
import { compactHistory } from "./compact-history.ts";
import { deliverOutgoing } from "./deliver-outgoing.ts";
import { runTool } from "./run-tool.ts";
import { sendToRemote } from "./send-to-remote.ts";
import { watchLimits } from "./watch-limits.ts";
import { watchRemote } from "./watch-remote.ts";

/** What effects need of the member they run in. */
export interface Member {
  /** The current build: another one may take its place between two effects. */
  readonly registry: () => Registry;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly tokens: CallbackTokens;
  readonly sandboxes: Sandboxes;
  /** Address of this member's API as others reach it, e.g. `http://127.0.0.1:3000/eve/foreman/v1`. */
  readonly publicBase: () => string;
  /** When a session of this member last showed an event, in milliseconds since the epoch. */
  readonly lastEventAt: (sessionId: string) => Promise<number | undefined>;
  readonly log: (line: string) => void;
}

/** Runs the effects of a member's sessions. */
export function createPerform(member: Member): Perform {
  return async (effect, context) => {
    switch (effect.kind) {
      case "model":
        return callModel(member, effect, context);
      case "tool":
        return runTool(member, effect, context);
      case "compact":
        return compactHistory(member, effect, context);
      case "send":
        return sendToRemote(member, effect, context);
      case "watch":
        return watchRemote(member, effect, context);
      case "limit":
        return watchLimits(member, effect, context);
      case "outgoing":
        return deliverOutgoing(member, effect.outgoing, context);
    }
  };
}
