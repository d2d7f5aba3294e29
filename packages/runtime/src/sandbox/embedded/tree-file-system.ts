import { posix } from "node:path";
import type { FileContent, IFileSystem, FsStat } from "just-bash";
import { fileError } from "../files/locate.ts";
import type { Tree, TreeStat } from "../files/tree.ts";

/** The files of a sandbox below `mount`, as the shell takes file systems: it speaks of paths below the mount. */
export function toFileSystem(tree: Tree, mount: string): IFileSystem {
  const full = (path: string): string => posix.join(mount, posix.resolve("/", path));
  const facts = async (path: string): Promise<FsStat> => toFsStat(await tree.stat(full(path)));
  const list = (path: string): Promise<string[]> => tree.list(full(path));
  const copy = async (from: string, to: string, recursive: boolean): Promise<void> => {
    const { type, mode } = await tree.stat(full(from));
    if (type === "file") return tree.write(full(to), await tree.read(full(from)), { mode });
    if (!recursive) throw fileError("EISDIR", full(from));
    if (`${full(to)}/`.startsWith(`${full(from)}/`)) throw fileError("EINVAL", full(to));
    await tree.makeFolder(full(to), true);
    for (const name of await list(from)) await copy(posix.join(from, name), posix.join(to, name), true);
  };

  return {
    readFile: async (path, options) => (await tree.read(full(path))).toString(encodingOf(options)),
    readFileBuffer: (path) => tree.read(full(path)),
    // With the folders above it, as the shell expects of a file system: what it can not write ends the whole script.
    writeFile: (path, content, options) =>
      tree.write(full(path), toBytes(content, encodingOf(options)), { parents: true }),
    appendFile: (path, content, options) => tree.append(full(path), toBytes(content, encodingOf(options))),
    exists: (path) => facts(path).then(isTrue, isFalse),
    stat: facts,
    lstat: facts,
    mkdir: (path, options) => tree.makeFolder(full(path), options?.recursive === true),
    readdir: list,
    readdirWithFileTypes: async (path) =>
      Promise.all(
        (await list(path)).map(async (name) => {
          const { isFile, isDirectory } = await facts(posix.join(path, name));
          return { name, isFile, isDirectory, isSymbolicLink: false };
        }),
      ),
    rm: async (path, options) => {
      if (options?.force === true && !(await facts(path).then(isTrue, isFalse))) return;
      await tree.remove(full(path), options?.recursive === true);
    },
    cp: (from, to, options) => copy(from, to, options?.recursive === true),
    mv: (from, to) => tree.move(full(from), full(to)),
    resolvePath: (base, path) => posix.resolve(base, path),
    // For patterns the shell reads folders instead.
    getAllPaths: () => [],
    chmod: (path, mode) => tree.setMode(full(path), mode),
    utimes: (path, _, mtime) => tree.setTime(full(path), mtime),
    realpath: async (path) => {
      await facts(path);
      return posix.resolve("/", path);
    },
    symlink: async (_, path) => {
      throw fileError("EPERM", full(path));
    },
    link: async (_, path) => {
      throw fileError("EPERM", full(path));
    },
    readlink: async (path) => {
      await facts(path);
      throw fileError("EINVAL", full(path));
    },
  };
}

const isTrue = (): boolean => true;
const isFalse = (): boolean => false;

function toFsStat({ type, size, mode, mtime }: TreeStat): FsStat {
  return { isFile: type === "file", isDirectory: type === "folder", isSymbolicLink: false, mode, size, mtime };
}

type Encoding = Parameters<IFileSystem["writeFile"]>[2] | Parameters<IFileSystem["readFile"]>[1];

function encodingOf(options: Encoding): BufferEncoding {
  const encoding = typeof options === "string" ? options : options?.encoding;
  return encoding ?? "utf8";
}

function toBytes(content: FileContent, encoding: BufferEncoding): Uint8Array {
  return typeof content === "string" ? Buffer.from(content, encoding) : content;
}
