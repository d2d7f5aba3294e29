import { parseArgs } from "node:util";
import { compileMember, isDefaultTool, type CompileResult } from "../compile/index.ts";
import { formatDiagnostic } from "../discover/index.ts";

/**
 * `eve build [--json]`: compiles the member in the working directory (contract §3).
 *
 * @returns 0, or 1 when there are errors.
 */
export async function build(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: { json: { type: "boolean", default: false } } });
  const started = performance.now();
  const result = await compileMember({ memberDir: process.cwd() });
  const seconds = (performance.now() - started) / 1_000;

  if (values.json) {
    const diagnostics = [...(result.ok ? [] : result.diagnostics), ...result.warnings];
    process.stdout.write(`${JSON.stringify({ ok: result.ok, diagnostics }, null, 2)}\n`);
  } else {
    printResult(result, seconds);
  }
  return result.ok ? 0 : 1;
}

function printResult(result: CompileResult, seconds: number): void {
  for (const warning of result.warnings) console.error(`warning ${formatDiagnostic(warning)}`);
  if (!result.ok) {
    for (const diagnostic of result.diagnostics) console.error(formatDiagnostic(diagnostic));
    console.error(count(result.diagnostics.length, "error"));
    return;
  }
  const { member, nodes } = result.manifest;
  const authored = nodes.flatMap((node) => node.tools).filter(({ source }) => !isDefaultTool(source));
  const size = `${Math.round(result.bytes / 1_000).toLocaleString("en")} kB`;
  console.log(
    `built ${member}: ${count(nodes.length, "agent")}, ${count(authored.length, "tool")}, ${size} in ${seconds.toFixed(1)} s`,
  );
}

function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? "" : "s"}`;
}
