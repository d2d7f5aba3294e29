import { messageOf, AgentError } from "../errors.ts";
import { isUsageError } from "./usage-error.ts";

type Command = (args: string[]) => Promise<number>;

// Imported when asked for: `eve start` must not load the compiler.
const COMMANDS: Readonly<Record<string, { readonly summary: string; readonly load: () => Promise<Command> }>> = {
  build: { summary: "Compile the member in this folder", load: async () => (await import("./build.ts")).build },
  dev: { summary: "Serve the member and follow its changes", load: async () => (await import("./dev/dev.ts")).dev },
  sessions: {
    summary: "List, show, export, delete, retry and fork sessions",
    load: async () => (await import("./sessions/sessions.ts")).sessions,
  },
  start: { summary: "Serve the last build", load: async () => (await import("./start.ts")).start },
};

const HELP = `Usage: eve <command> [flags]

${Object.entries(COMMANDS)
  .map(([name, { summary }]) => `  ${name.padEnd(10)}${summary}`)
  .join("\n")}
  help      Show this text

Run it in the folder of a member (agents/<name>).
  eve build --json                      Print the result as JSON
  eve dev|start --host <h> --port <n>   Listen there (127.0.0.1, 4000)
  eve dev --inspect[=[<host>:]<port>]   Let a debugger connect (127.0.0.1:9229)
  eve sessions help                     What there is to do with sessions
`;

/**
 * Runs the command line (`eve build`, `eve dev`, `eve sessions`, `eve start`, `eve help`).
 *
 * @param args Arguments after the program's name.
 * @returns the exit code: 0, 1 for a failure, 2 for a command or flag that does not exist.
 */
export async function main(args: readonly string[]): Promise<number> {
  const [name = "help", ...rest] = args;
  if (name === "help" || name === "--help" || name === "-h") {
    process.stdout.write(HELP);
    return 0;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) {
    console.error(`eve has no command "${name}".\n\n${HELP}`);
    return 2;
  }
  try {
    return await (
      await command.load()
    )(rest);
  } catch (error) {
    if (isUsageError(error)) {
      console.error(`eve ${name}: ${error.message}\nRun \`eve help\` to see what there is.`);
      return 2;
    }
    console.error(
      AgentError.is(error) ? `${error.code} ${error.message}${error.fix ? ` — ${error.fix}` : ""}` : messageOf(error),
    );
    return 1;
  }
}
