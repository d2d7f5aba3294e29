import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Sandbox, SandboxProvider, SeedFile, SessionSandbox } from "../define/define-sandbox.ts";
import { AgentError, messageOf } from "../errors.ts";
import type { RegisteredNode, Registry } from "../registry/registry.ts";
import { readRecord, writeRecord } from "./sandbox-record.ts";
import { sandboxOwner, type SandboxSession } from "./sandbox-owner.ts";
import { createSessionViews } from "./session-view.ts";

export interface SandboxesOptions {
  /** Folder that gets one folder for every sandbox. */
  readonly folder: string;
  /** The current build. */
  readonly registry: () => Registry;
  /** Reads a file that the manifest of the current build names. */
  readonly readBuildFile: (file: string) => Promise<Uint8Array>;
  /** For agents that name no provider. */
  readonly embedded: SandboxProvider;
  readonly log: (line: string) => void;
}

/** The sandboxes of a member's sessions. */
export interface Sandboxes {
  /**
   * The sandbox that a session works in, made with its seed when it is first asked for (contract §3, §7).
   *
   * @throws AgentError `SANDBOX_FAILED` when its provider fails.
   */
  of(session: SandboxSession): Promise<SessionSandbox>;
  /**
   * Deletes the sandboxes of sessions that are gone; an id that has none is passed over.
   *
   * @throws AgentError `SANDBOX_FAILED` when some could not be deleted; another call tries again.
   */
  remove(sessionIds: readonly string[]): Promise<void>;
}

/** Open sandboxes that are kept at hand. Each is next to nothing: what runs in it is its provider's. */
const MAX_OPEN = 500;

export function createSandboxes({ folder, registry, readBuildFile, embedded, log }: SandboxesOptions): Sandboxes {
  const opened = new Map<string, Promise<Sandbox>>();
  const views = createSessionViews();

  const open = async (id: string, node: RegisteredNode): Promise<Sandbox> => {
    const request = { id, folder: folderOf(id) };
    const provider = node.sandbox?.provider ?? embedded;
    const known = await readRecord(request.folder);
    if (known?.provider !== provider.name) {
      if (known !== undefined)
        log(`${id}: its sandbox was made by "${known.provider}", and is now one of "${provider.name}".`);
      // Before anything is made, so that nothing is left that nobody would delete.
      await writeRecord(request.folder, { provider: provider.name });
    }
    return (await provider.resume(request)) ?? provider.create({ ...request, seed: await readSeed(node) });
  };

  const readSeed = async ({ sandbox, manifest }: RegisteredNode): Promise<SeedFile[]> => {
    if (sandbox?.seed === false) return [];
    return Promise.all(
      (manifest.sandbox?.seed ?? []).map(async ({ path, file, executable }) => ({
        path,
        content: await readBuildFile(file),
        executable,
      })),
    );
  };

  const remove = async (id: string): Promise<void> => {
    const request = { id, folder: folderOf(id) };
    await opened.get(id)?.catch(() => {});
    opened.delete(id);
    views.forget(id);
    const record = await readRecord(request.folder);
    if (record === undefined) return rm(request.folder, { recursive: true, force: true });
    const provider = providersOf(registry(), embedded).find(({ name }) => name === record.provider);
    if (provider === undefined) {
      log(`${id}: no agent of this build uses the sandboxes of "${record.provider}", so this one is only forgotten.`);
    }
    await provider?.delete(request);
    await rm(request.folder, { recursive: true, force: true });
  };

  const folderOf = (id: string): string => {
    if (/^[\w-]{1,128}$/.test(id)) return join(folder, id);
    throw new AgentError("SANDBOX_FAILED", `"${id}" can not name a sandbox.`, { fix: "Use the id of a session." });
  };

  return {
    of: async (session) => {
      const id = sandboxOwner(session);
      const sandbox = opened.get(id) ?? open(id, registry().node(session.nodeId));
      // Moved to the end: the map's order is the order of use.
      opened.delete(id);
      opened.set(id, sandbox);
      if (opened.size > MAX_OPEN) opened.delete(opened.keys().next().value!);
      try {
        return views.of(session.sessionId, await sandbox);
      } catch (error) {
        if (opened.get(id) === sandbox) opened.delete(id);
        throw toSandboxError(error);
      }
    },
    remove: async (sessionIds) => {
      const failed: string[] = [];
      for (const id of sessionIds) {
        await remove(id).catch((error: unknown) => failed.push(`${id}: ${messageOf(error)}`));
      }
      if (failed.length === 0) return;
      throw new AgentError("SANDBOX_FAILED", `Sandboxes were not deleted: ${failed.join("; ")}.`, {
        fix: "Delete them again when their provider works.",
      });
    },
  };
}

function providersOf({ manifest, node }: Registry, embedded: SandboxProvider): SandboxProvider[] {
  return [embedded, ...manifest.nodes.flatMap(({ id }) => node(id).sandbox?.provider ?? [])];
}

function toSandboxError(error: unknown): AgentError {
  if (AgentError.is(error)) return error;
  return new AgentError("SANDBOX_FAILED", `The sandbox could not be opened: ${messageOf(error)}.`, {
    fix: "Look at what its provider needs, then try again.",
    cause: error,
  });
}
