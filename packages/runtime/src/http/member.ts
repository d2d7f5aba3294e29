import { randomInt } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isDevelopment, localDev } from "../channels/auth.ts";
import type { EveChannelDefinition } from "../channels/eve.ts";
import { createPerform } from "../effects/perform.ts";
import type { Surroundings } from "../engine/input.ts";
import { AgentError, messageOf } from "../errors.ts";
import { createSqlHost } from "../host/sql/host.ts";
import { lockStore } from "../host/sql/lock.ts";
import { openSqliteStore } from "../host/sql/sqlite.ts";
import { describeModel, type ModelFacts } from "../models/resolve-model.ts";
import { parseManifest } from "../registry/parse-manifest.ts";
import { createRegistry, type Modules, type Registry } from "../registry/registry.ts";
import { sessionTimeoutOf } from "../registry/session-timeout.ts";
import { taskLimitsOf } from "../registry/task-limits.ts";
import { embeddedProvider } from "../sandbox/embedded/embedded-provider.ts";
import { shellOf } from "../sandbox/embedded/shell.ts";
import { createSandboxes } from "../sandbox/sandboxes.ts";
import { createCallbackTokens } from "../transport/callback-token.ts";
import { VERSION } from "../version.ts";
import { createApp } from "./app.ts";
import { checkEnv } from "./check-env.ts";
import { createFault } from "./fault.ts";
import { isQuiet } from "./is-quiet.ts";
import { createOperatorTokens } from "./operator-token.ts";
import { readRetention } from "./retention.ts";
import { newUlid } from "./unique-id.ts";

/** What `eve build` made of a member. */
export interface Bundle {
  /** Content of `manifest.json`. */
  readonly manifest: unknown;
  readonly modules: Modules;
  /** The folder of `manifest.json`, with a slash at the end. Absent when the manifest names no file of the build. */
  readonly folder?: URL;
}

export interface MemberOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder of the store; created when missing. */
  readonly storeFolder: string;
  /** The store is gone when the process is: what is accepted is lost with it. Default false. */
  readonly isTemporary?: boolean;
  /** Origin under which others reach the member; asked when it is needed, which is never before it listens. */
  readonly origin: () => string;
  readonly log: (line: string) => void;
}

/** A running member without a socket. */
export interface Member {
  readonly name: string;
  fetch(request: Request): Response | Promise<Response>;
  /** Takes up the work that an earlier process left. */
  start(): Promise<void>;
  /** Goes on with another build: what runs finishes on the old one, what starts uses the new. */
  swap(bundle: Bundle): void;
  /** No model and no tool works, so that an end of the process interrupts nothing. */
  isQuiet(): Promise<boolean>;
  /** Says who owns the store, for the error that a second owner gets. */
  describe(owner: Readonly<Record<string, unknown>>): void;
  /** `graceMs` is for tools that must not run twice, see `Host.close`. */
  close(graceMs?: number): Promise<void>;
}

/**
 * Puts the parts of a member together: the one composition root, whatever serves it.
 *
 * @throws AgentError `STORE_LOCKED`, `STORE_UNUSABLE`, `STORE_FULL`, `CONFIG_INVALID`, `ENV_MISSING`.
 */
export async function createMember(bundle: Bundle, options: MemberOptions): Promise<Member> {
  const { env, storeFolder, isTemporary = false, origin, log } = options;
  let { folder } = bundle;
  let registry = toRegistry(bundle);
  checkEnv(registry.manifest, env);
  const retentionMs = readRetention(env);
  const name = registry.manifest.member;
  const lock = lockStore(join(storeFolder, "store.lock"));
  const store = openStore(join(storeFolder, "store.db"), lock.release);
  const secret = await store.secret();
  const tokens = createCallbackTokens(secret);
  const operator = createOperatorTokens(secret);
  const modelFacts = (nodeId: string): ModelFacts => {
    const { model, reasoning } = registry.node(nodeId);
    return { ...describeModel(model, env), ...(reasoning && { reasoning }) };
  };
  // The agent of a session may be gone from this build; its model call says so.
  const factsOf = (nodeId: string): Pick<Surroundings, "modelId" | "compactAt" | "taskLimits"> => {
    if (!registry.manifest.nodes.some(({ id }) => id === nodeId)) return { modelId: "unavailable" };
    const node = registry.node(nodeId);
    const { compactAt } = node;
    const taskLimits = taskLimitsOf(node);
    return {
      modelId: modelFacts(nodeId).modelId,
      ...(compactAt === undefined ? {} : { compactAt }),
      ...(taskLimits === undefined ? {} : { taskLimits }),
    };
  };
  const base = `/eve/${name}/v1`;
  const newSessionId = (): string => `ses_${newUlid()}`;
  const fault = createFault(env);
  const sandboxes = createSandboxes({
    folder: join(storeFolder, "sandboxes"),
    registry: () => registry,
    readBuildFile: (file) => readFile(new URL(file, folder)),
    embedded: embeddedProvider(() => shellOf(registry.manifest, folder)),
    log,
  });

  const host = createSqlHost({
    store,
    perform: createPerform({
      registry: () => registry,
      env,
      tokens,
      sandboxes,
      publicBase: () => `${origin()}${base}`,
      lastEventAt: async (sessionId) => (await host.head(sessionId))?.updatedAt,
      log,
    }),
    surroundings: ({ sessionId, nodeId }) => {
      const sessionTimeoutMs = sessionTimeoutOf(registry, nodeId);
      return {
        sessionId,
        ...factsOf(nodeId),
        eveVersion: VERSION,
        base,
        newSessionId,
        random,
        ...(sessionTimeoutMs === undefined ? {} : { sessionTimeoutMs }),
      };
    },
    newSessionId,
    newEventId: () => `evt_${newUlid()}`,
    now: Date.now,
    retentionMs,
    gone: (sessionId) => {
      sandboxes.remove([sessionId]).catch((error: unknown) => log(`${sessionId}: ${toLogLine(error)}`));
    },
    onError: (error, sessionId) => log(`${sessionId ?? name}: ${toLogLine(error)}`),
    ...(fault === undefined ? {} : { fault }),
  });

  const toApp = ({ modules }: Bundle): ReturnType<typeof createApp> => {
    const { channel } = registry.manifest;
    return createApp({
      host,
      registry,
      auth: channel === undefined ? [localDev()] : (modules[channel] as EveChannelDefinition).auth,
      tokens,
      operator,
      env,
      modelFacts,
      durable: !isTemporary,
      mode: isDevelopment(env) ? "development" : "production",
      origin,
      log,
    });
  };
  let app = toApp(bundle);

  return {
    name,
    fetch: (request) => app.fetch(request),
    start: () => host.start(),
    swap: (next) => {
      const nextRegistry = toRegistry(next);
      checkEnv(nextRegistry.manifest, env);
      registry = nextRegistry;
      folder = next.folder;
      app = toApp(next);
    },
    isQuiet: () => isQuiet(host, store),
    describe: lock.describe,
    close: async (graceMs) => {
      await host.close(graceMs);
      lock.release();
    },
  };
}

/** A store that does not open must not stay locked: the next attempt may come from this process. */
function openStore(file: string, release: () => void): ReturnType<typeof openSqliteStore> {
  try {
    return openSqliteStore(file);
  } catch (error) {
    release();
    throw error;
  }
}

/** Who reads the log is who can repair it. */
function toLogLine(error: unknown): string {
  return AgentError.is(error) && error.fix !== undefined ? `${error.message} ${error.fix}` : messageOf(error);
}

function toRegistry({ manifest, modules }: Bundle): Registry {
  return createRegistry(parseManifest(manifest), modules);
}

const ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789";

function random(length: number): string {
  return Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
}
