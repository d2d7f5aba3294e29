/** What the thread of one command is given. */
export interface Job {
  /** Folder on this machine that holds the files of the sandbox. */
  readonly files: string;
  /** Folder for files that are not whole yet. */
  readonly drafts: string;
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}
