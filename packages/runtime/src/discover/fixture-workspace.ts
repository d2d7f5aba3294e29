/** Real members in a temporary folder, for tests of discovery and compilation. */
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const RUNTIME = fileURLToPath(new URL("../../", import.meta.url));

export interface FixtureWorkspace {
  readonly root: string;
  /** Folder of a member. */
  member(name: string): string;
  /** Adds or replaces files. */
  write(files: Readonly<Record<string, string>>): void;
  remove(): void;
}

/**
 * Creates a workspace from file contents, by path below the root. Every member without a `package.json` gets one that
 * declares `eve` and `zod`, and both are installed as links.
 */
export function createFixtureWorkspace(files: Readonly<Record<string, string>>): FixtureWorkspace {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "eve-fixture-")));
  const write: FixtureWorkspace["write"] = (added) => {
    for (const [path, content] of Object.entries(added)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), content);
    }
  };
  write({ "pnpm-workspace.yaml": "packages: [agents/*]\n", ...files });
  const members = new Set(Object.keys(files).flatMap((path) => /^agents\/[^/]+(?=\/)/.exec(path)?.[0] ?? []));
  for (const member of members) {
    if (!existsSync(join(root, member, "package.json"))) write({ [`${member}/package.json`]: PACKAGE });
    install(join(root, member, "node_modules/eve"), RUNTIME);
    install(join(root, member, "node_modules/zod"), join(RUNTIME, "node_modules/zod"));
  }
  return {
    root,
    member: (name) => join(root, "agents", name),
    write,
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

const PACKAGE = JSON.stringify({ type: "module", dependencies: { eve: "workspace:*", zod: "catalog:" } });

function install(link: string, target: string): void {
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(target, link, "dir");
}
