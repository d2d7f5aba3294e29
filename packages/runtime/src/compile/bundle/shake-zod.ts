import { readFileSync } from "node:fs";
import type { Plugin } from "esbuild";

/**
 * Reads `import { z } from "zod"` of authored files as `import * as z from "zod"`. Both name the same functions, but
 * esbuild keeps the whole of a namespace that is imported by name: every locale and format, a quarter of a function.
 */
export function shakeZodPlugin(isAuthored: (path: string) => boolean): Plugin {
  return {
    name: "eve-shake-zod",
    setup(build) {
      build.onLoad({ filter: /\.[mc]?tsx?$/ }, ({ path }) => {
        if (!isAuthored(path)) return undefined;
        const source = readFileSync(path, "utf8");
        const contents = shakeZod(source);
        if (contents === source) return undefined;
        return { contents, loader: path.endsWith("x") ? "tsx" : "ts" };
      });
    },
  };
}

/**
 * The source with that import rewritten, every line where it was. Looks at the imports at the top only: what looks like
 * one further down may be part of a text.
 */
export function shakeZod(source: string): string {
  TOP.lastIndex = 0;
  const top = TOP.exec(source)![0];
  const shaken = top.replace(Z_BY_NAME, (_, before: string, names: string, from: string) => {
    return `${before}* as z${names.replace(/[^\n]/g, "")}${from}`;
  });
  return shaken + source.slice(top.length);
}

/** White space, comments and import declarations. */
const TOP = /(?:\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/|import\s(?:[^"';]*\sfrom\s*)?(?:"[^"\n]*"|'[^'\n]*')\s*;?)*/y;

const Z_BY_NAME = /((?:^|[\n;])[ \t]*import\s*)(\{\s*z\s*,?\s*\})(\s*from\s*["']zod(?:\/v4|\/mini|\/v4-mini)?["'])/g;
