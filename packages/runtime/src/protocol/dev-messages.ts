/** What the supervisor of `eve dev` and the process that serves the member tell each other over IPC. */

/** Loads a build: the first one starts the member, each later one takes the place of the one before. */
export interface LoadBuild {
  readonly type: "load";
  /** Folder with `modules.mjs` and `manifest.json`. */
  readonly folder: string;
}

/** Asks to be told, by `settled`, when nothing is under way any more, or the time is up. */
export interface Settle {
  readonly type: "settle";
  /** `work`: models, tools and requests. */
  readonly what: "work" | "requests";
  readonly withinMs: number;
}

export type ServingMessage =
  | { readonly type: "listening"; readonly port: number }
  | { readonly type: "swapped"; readonly folder: string; readonly rss: number }
  /** The build was not taken up; after the first one the process ends. */
  | { readonly type: "failed"; readonly folder: string; readonly error: ServingError }
  | { readonly type: "settled"; readonly quiet: boolean }
  /** Something that nobody caught; the process ends. */
  | { readonly type: "crashed"; readonly error: ServingError };

export interface ServingError {
  readonly code?: string;
  readonly message: string;
  readonly fix?: string;
}
