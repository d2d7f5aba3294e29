import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { discoverMember } from "../../discover/index.ts";
import { createFixtureWorkspace, type FixtureWorkspace } from "../../discover/fixture-workspace.ts";
import { bundleMember } from "./bundle-member.ts";
import { modulesOf } from "../check-modules.ts";

const BUILD_TIME =
  /(?:^|\/)(?:packages\/runtime\/)?src\/(?:compile|discover|cli)\/|\/node_modules\/(?:@esbuild|esbuild)\//;

let workspace: FixtureWorkspace;
afterEach(() => workspace.remove());

async function inputsOf(tool: string): Promise<string[]> {
  workspace = createFixtureWorkspace({ "agents/a/agent/tools/t.ts": tool });
  const dir = workspace.member("a");
  const member = discoverMember({ memberDir: dir, base: workspace.root });
  const { bundle, diagnostics } = await bundleMember(modulesOf(member.nodes), {
    member,
    outDir: join(dir, ".eve/build"),
    root: workspace.root,
    base: workspace.root,
    entries: ["loaders", "modules", "server", "function"],
  });
  expect(diagnostics).toEqual([]);
  return Object.values(bundle!.metafile.outputs).flatMap((output) => Object.keys(output.inputs));
}

test("nothing of the build gets into a bundle", async () => {
  const inputs = await inputsOf(`
    import { defineTool } from "eve/tools";
    import { z } from "zod";
    export default defineTool({ description: "d", inputSchema: z.object({}), execute: () => 1 });`);
  expect(inputs).toEqual(
    expect.arrayContaining([
      "agents/a/agent/tools/t.ts",
      expect.stringMatching(/packages\/runtime\/src\/define\/define-tool\.ts$/),
      expect.stringMatching(/packages\/runtime\/src\/http\/serve\.ts$/),
      expect.stringMatching(/packages\/runtime\/src\/http\/function\.ts$/),
    ]),
  );
  expect(inputs.filter((input) => BUILD_TIME.test(input))).toEqual([]);
});

test("the check above sees build-time code when it is there", async () => {
  const inputs = await inputsOf(`
    import { lineOfOption } from "${new URL("../locate.ts", import.meta.url).pathname}";
    export default lineOfOption;`);
  expect(inputs.filter((input) => BUILD_TIME.test(input))).toContainEqual(
    expect.stringMatching(/src\/compile\/locate\.ts$/),
  );
});
