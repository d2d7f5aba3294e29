import { brand } from "./brand.ts";
import { checkOptions } from "./check-options.ts";

/** One command for the shell of a sandbox. */
export interface RunOptions {
  readonly command: string;
  /** Default `/workspace`; a relative path starts there. */
  readonly cwd?: string;
  /** Variables for this command. Nothing of the member's own environment is ever among them. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default 60,000. A command that takes longer is killed and ends with exit code 124. */
  readonly timeoutMs?: number;
  /** Kills the command; `run` then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

export interface RunResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What is at a path of a sandbox. */
export interface SandboxEntry {
  /** Last segment of the path. */
  readonly name: string;
  readonly type: "file" | "folder";
  /** Bytes of a file; 0 of a folder. */
  readonly size: number;
  readonly executable: boolean;
}

export interface WriteOptions {
  readonly path: string;
  readonly executable?: boolean;
}

/**
 * The files and the shell that one session works with (contract §3, §7). Paths are absolute or start at `/workspace`.
 * The methods that take a path reject with `SANDBOX_FAILED` for one that leaves `/workspace` and `/tmp`.
 */
export interface Sandbox {
  readonly id: string;
  /** Runs a command to its end. An exit code other than 0 does not reject. */
  run(options: RunOptions): Promise<RunResult>;
  readFile(options: { readonly path: string }): Promise<Uint8Array>;
  readTextFile(options: { readonly path: string }): Promise<string>;
  /** Writes the whole file, or nothing of it; creates the folders above it. */
  writeFile(options: WriteOptions & { readonly content: Uint8Array }): Promise<void>;
  writeTextFile(options: WriteOptions & { readonly content: string }): Promise<void>;
  /** `undefined`: there is nothing. */
  stat(options: { readonly path: string }): Promise<SandboxEntry | undefined>;
  /** What is in a folder, by name. */
  list(options: { readonly path: string }): Promise<readonly SandboxEntry[]>;
  /** Removes a file, or a folder with all that is in it. Nothing there is no error. */
  remove(options: { readonly path: string }): Promise<void>;
}

/**
 * Under this key the sandbox that `ctx.getSandbox()` gives has what its session has read: by path, the digest of the
 * content. For the tools of the framework: theirs may be another copy of this module, so the key is a global one.
 */
export const READS: unique symbol = Symbol.for("eve.sandbox.reads");

export interface SessionSandbox extends Sandbox {
  readonly [READS]: Map<string, string>;
}

/** A file that every new sandbox begins with: it stands in `agent/sandbox/workspace/`. */
export interface SeedFile {
  /** Below `/workspace`, with `/`. */
  readonly path: string;
  readonly content: Uint8Array;
  readonly executable: boolean;
}

/** Which sandbox is meant. */
export interface SandboxRequest {
  /** Letters, digits, `_` and `-`; the same for the whole life of the sandbox. */
  readonly id: string;
  /** A folder on this machine that belongs to this sandbox; created before it is asked for, kept until it is deleted. */
  readonly folder: string;
}

/**
 * Where sandboxes come from. Every function may be called again after a crash. `conformance.fixture.ts` in
 * `packages/runtime/src/sandbox` holds what is expected of it.
 */
export interface SandboxProvider {
  /** Recorded with every sandbox, so that the provider that made it is asked to delete it. */
  readonly name: string;
  /** Makes the sandbox with its seed. A half-made one of the same id, left by a crash, is replaced. */
  create(request: SandboxRequest & { readonly seed: readonly SeedFile[] }): Promise<Sandbox>;
  /** The sandbox that was made before, as it was left; `undefined` when there is none that is whole. */
  resume(request: SandboxRequest): Promise<Sandbox | undefined>;
  /** Ends what runs in it and deletes it. Nothing there is no error. */
  delete(request: SandboxRequest): Promise<void>;
}

export interface SandboxOptions {
  /** Default: the embedded shell, which runs no program of the machine and reaches no network. */
  readonly provider?: SandboxProvider;
  /** Whether a new sandbox begins with the files of `sandbox/workspace/`. Default `true`. */
  readonly seed?: boolean;
}

export interface SandboxDefinition extends SandboxOptions {
  readonly seed: boolean;
}

/**
 * Defines the sandbox of `agent/sandbox.ts` or `agent/sandbox/sandbox.ts` (contract §3). Without one an agent has the
 * embedded shell.
 *
 * @throws AgentError `CONFIG_INVALID` for an unknown option or one of the wrong type.
 * @example
 * export default defineSandbox({ provider: localProvider() });
 */
export function defineSandbox(options: SandboxOptions = {}): SandboxDefinition {
  checkOptions("defineSandbox", options, { provider: "provider?", seed: "boolean?" });
  return brand("sandbox", { ...options, seed: options.seed ?? true });
}
