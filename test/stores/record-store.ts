/**
 * `node test/stores/record-store.ts <name>`: records stores with the code of this checkout, for `upgrade.test.ts` of
 * later ones. See README.md.
 */
import { buildKeeper } from "../support/keeper.ts";
import { recordAtCommits } from "./at-commit.ts";
import { recordAtWork } from "./at-work.ts";

const name = process.argv[2];
if (name === undefined || !/^[a-z0-9-]+$/.test(name)) {
  console.error("Say how to call the stores: node test/stores/record-store.ts v2");
  process.exit(1);
}
using workspace = await buildKeeper();
await recordAtWork(name, workspace);
await recordAtCommits(name, workspace);
