import type { Entry } from "./entry.ts";
import type { Post, Surroundings } from "./input.ts";
import { reduce } from "./reduce.ts";
import type { SessionState, Turn } from "./state.ts";

/** Entries being decided on; each is folded at once, so that the next decision sees it. */
export interface Draft {
  readonly around: Surroundings;
  readonly entries: Entry[];
  readonly posts: Post[];
  readonly state: SessionState;
  /** The turn under way. */
  readonly turn: Turn;
  emit(entry: Entry): void;
  post(post: Post): void;
}

export function createDraft(initial: SessionState | undefined, around: Surroundings): Draft {
  let state = initial;
  const entries: Entry[] = [];
  const posts: Post[] = [];
  return {
    around,
    entries,
    posts,
    get state() {
      if (state === undefined) throw new Error("A session is read before it was opened.");
      return state;
    },
    get turn() {
      if (state?.turn === undefined) throw new Error("A turn is read while none is under way.");
      return state.turn;
    },
    emit(entry) {
      state = reduce(state, entry);
      entries.push(entry);
    },
    post: (post) => void posts.push(post),
  };
}

/** Coordinates of a turn's events. */
export function inTurn({ turn }: Draft): { turnId: string; sequence: number } {
  return { turnId: turn.turnId, sequence: turn.sequence };
}

/** Coordinates of a step's events. */
export function inStep(draft: Draft): { turnId: string; sequence: number; stepIndex: number } {
  return { ...inTurn(draft), stepIndex: draft.turn.stepIndex };
}
