import { join } from "node:path";
import type { BuiltWorkspace } from "../support/build-workspace.ts";
import { createKeeper, readJournal } from "../support/keeper.ts";
import type { Member } from "../support/member.ts";
import { postJson } from "../support/post-json.ts";
import { readStore } from "../support/read-store.ts";
import { saveRecordedStore } from "../support/recorded-store.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { until } from "../support/until.ts";
import { open, type Followed } from "./follow.ts";

/** More fault points than one of these conversations has. */
const TOO_MANY = 100;

/** A state that lasts for no time: something is stored for a session, and the session has not taken it up. */
interface Moment {
  readonly state: string;
  readonly operation?: { readonly operationId: string; readonly message: string };
  /** The gate is closed: tools do not end. */
  readonly slow?: boolean;
  /** Leads to the state; fails when the process dies. */
  readonly drive: (
    member: Member,
    noted: () => Promise<unknown>,
    followed: (session: Followed) => void,
  ) => Promise<void>;
  /** Id of the message that waits. */
  readonly waits: RegExp;
  readonly sessions: number;
}

const CREATE = { operationId: "create", message: "Hello at once" };
const SEND = { operationId: "send", message: "Hello once more" };

const MOMENTS: readonly Moment[] = [
  {
    state: "accepted-create",
    operation: CREATE,
    waits: /^open$/,
    sessions: 1,
    drive: async ({ api }) => void (await postJson(`${api}/session`, CREATE)),
  },
  {
    state: "accepted-message",
    operation: SEND,
    waits: /^del_/,
    sessions: 1,
    drive: async (member, _, followed) => {
      const session = await open(member, { state: "accepted-message" }, { message: "Hello first" });
      followed(session);
      await session.until("session.waiting");
      await session.post("", SEND);
    },
  },
  {
    state: "accepted-by-child",
    waits: /^open$/,
    sessions: 2,
    drive: askHelper("accepted-by-child"),
  },
  {
    state: "accepted-reply",
    waits: /^reply:/,
    sessions: 2,
    drive: askHelper("accepted-reply"),
  },
  {
    state: "accepted-reset",
    slow: true,
    waits: /^reset:/,
    sessions: 1,
    drive: async (member, noted, followed) => {
      const session = await open(member, { state: "accepted-reset" }, { message: "Count until the end" });
      followed(session);
      await noted();
      await session.post("/reset", {});
    },
  },
];

function askHelper(state: string): Moment["drive"] {
  return async (member, _, followed) => {
    const session = await open(member, { state }, { message: "Hello first" });
    followed(session);
    await session.until("session.waiting");
    await session.say("Ask helper");
  };
}

/** Records one store for each moment: a process that killed itself right there (`EVE_FAULT_AT`). */
export async function recordAtCommits(name: string, workspace: BuiltWorkspace): Promise<void> {
  for (const moment of MOMENTS) {
    let at = 1;
    while (!(await recordAt(at, `${name}-${moment.state}`, workspace, moment))) {
      if (++at > TOO_MANY) throw new Error(`No process died in the moment ${moment.state}.`);
    }
  }
}

async function recordAt(at: number, name: string, workspace: BuiltWorkspace, moment: Moment): Promise<boolean> {
  using notes = tempFolder();
  const journal = join(notes.path, "journal");
  const slow = moment.slow === true ? { TEST_GATE: join(notes.path, "gate") } : {};
  await using member = await createKeeper(workspace, journal, { ...slow, EVE_FAULT_AT: String(at) });
  await member.start();
  const toolKeys = (): string[] => readJournal(journal).flatMap(({ kind, key }) => (kind === "tool" ? [key] : []));
  let session: Followed | undefined;
  const driven = moment.drive(
    member,
    () => until("the tool runs", () => toolKeys().length > 0),
    (followed) => void (session = followed),
  );
  const survived = await Promise.race([
    driven.then(
      () => true,
      () => false,
    ),
    member.gone().then(() => false),
  ]);
  await member.kill();
  await session?.[Symbol.asyncDispose]();
  if (survived) throw new Error(`The process survived the moment ${moment.state}.`);
  const { sessions, unread } = readStore(member.store);
  if (sessions.length !== moment.sessions || unread.length !== 1 || !moment.waits.test(unread[0]!)) return false;
  const { state, operation, slow: isSlow = false } = moment;
  const lines = session?.recorded().lines ?? [];
  saveRecordedStore(name, member.store, {
    sessions: [{ state, sessionId: sessions[0]!.id, lines, ...(operation && { operation }) }],
    tools: { finished: isSlow ? [] : toolKeys(), running: [] },
  });
  return true;
}
