import { join } from "node:path";
import type { BuiltWorkspace } from "../../support/build-workspace.ts";
import { createMember, peerEnv, type Member } from "../../support/member.ts";
import { tempFolder } from "../../support/temp-folder.ts";
import type { Effect, MemberName } from "../history.ts";
import { live, type Lives } from "./lives.ts";
import type { Life } from "../plan/plan-lives.ts";
import { readRecord } from "./effect-record.ts";
import type { Watch } from "./watch.ts";

/** The caller and its peer, each living one life after the other. */
export interface Pair extends AsyncDisposable {
  readonly caller: Member;
  readonly peer: Member;
  effects(): readonly Effect[];
  /** Resolves when both live their last life. */
  readonly settled: Promise<void>;
  stop(): Promise<void>;
}

/** Kinds of effects by which one member misses the other. */
const MISSES: Readonly<Record<MemberName, ReadonlySet<string>>> = {
  caller: new Set(["callback"]),
  peer: new Set(["create", "send", "cancel", "reset"]),
};

export async function startPair(
  workspace: BuiltWorkspace,
  planned: Readonly<Record<MemberName, readonly Life[]>>,
  watch: Watch,
): Promise<Pair> {
  const notes = tempFolder();
  const journal = (name: MemberName): string => join(notes.path, name);
  const peer = await createMember("peer", workspace.server("peer"), { TEST_JOURNAL: journal("peer") });
  const caller = await createMember("caller", workspace.server("caller"), {
    TEST_JOURNAL: journal("caller"),
    TEST_FAR_URL: `${peer.origin}/eve/peer`,
    ...peerEnv(peer),
  });
  const records = { caller: readRecord(journal("caller"), "caller"), peer: readRecord(journal("peer"), "peer") };
  const start = (member: Member, name: MemberName, other: MemberName): Lives => {
    const isMissed = (since: number): boolean =>
      records[other].effects().some(({ kind, at }) => at >= since && MISSES[name].has(kind));
    return live(member, planned[name], { watch, isMissed });
  };
  const lives = [start(peer, "peer", "caller"), start(caller, "caller", "peer")];
  const stop = async (): Promise<void> => {
    await Promise.all(lives.map((one) => one.stop()));
  };
  return {
    caller,
    peer,
    effects: () => [...records.caller.effects(), ...records.peer.effects()],
    settled: Promise.all(lives.map((one) => one.settled)).then(() => {}),
    stop,
    [Symbol.asyncDispose]: async () => {
      await stop();
      await Promise.all([caller[Symbol.asyncDispose](), peer[Symbol.asyncDispose]()]);
      notes[Symbol.dispose]();
    },
  };
}
