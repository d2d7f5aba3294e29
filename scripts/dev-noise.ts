import { stripVTControlCharacters } from "node:util";

const FIRST = "WARNING! Running dev server in local mode without a project setup:";
const REST = [
  /^ {2}- Environment variables will not be pulled from Vercel$/,
  /^ {2}- Project settings are defined by local configuration$/,
  /^$/,
  /^To link your project, run /,
];

/**
 * Tells the lines of the CLI that say something from its notice that `--local` is local, which is what was asked for.
 * Only that notice is left out, and only as long as it reads as expected.
 */
export function createNoiseFilter(): (line: string) => boolean {
  let expected = REST.length;
  return (line) => {
    const text = stripVTControlCharacters(line);
    if (text === FIRST) {
      expected = 0;
      return false;
    }
    const isNoise = expected < REST.length && REST[expected]!.test(text);
    expected = isNoise ? expected + 1 : REST.length;
    return !isNoise;
  };
}
