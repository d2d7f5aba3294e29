import { buildWorkspace, type BuiltWorkspace } from "./build-workspace.ts";
import { createMember, peerEnv, type Env, type Member } from "./member.ts";

export interface RunningWorkspace extends AsyncDisposable {
  readonly foreman: Member;
  readonly research: Member;
}

/** Starts foreman and research of a built workspace. */
export async function startMembers(workspace: BuiltWorkspace, env: Env = {}): Promise<RunningWorkspace> {
  const research = await createMember("research", workspace.server("research"), env);
  const foreman = await createMember("foreman", workspace.server("foreman"), { ...env, ...peerEnv(research) });
  const stop = async (): Promise<void> => {
    await Promise.all([foreman[Symbol.asyncDispose](), research[Symbol.asyncDispose]()]);
  };
  try {
    await Promise.all([research.start(), foreman.start()]);
  } catch (error) {
    await stop();
    throw error;
  }
  return { foreman, research, [Symbol.asyncDispose]: stop };
}

/** Builds the repository's own foreman and research, and starts them. */
export async function startWorkspace(env: Env = {}): Promise<RunningWorkspace> {
  const workspace = await buildWorkspace(["agents/research", "agents/foreman"]);
  try {
    const members = await startMembers(workspace, env);
    return {
      ...members,
      [Symbol.asyncDispose]: async () => {
        await members[Symbol.asyncDispose]();
        workspace[Symbol.dispose]();
      },
    };
  } catch (error) {
    workspace[Symbol.dispose]();
    throw error;
  }
}
