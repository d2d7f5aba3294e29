/** `pnpm check`: every static check, all of them also when one fails. */
import { printFailures, runChecks } from "./run-checks.ts";

const results = await runChecks();
printFailures(results);
const failed = results.filter(({ ok }) => !ok).length;
process.stdout.write(`${results.length - failed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
