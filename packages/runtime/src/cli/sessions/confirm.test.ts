import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { confirm } from "./confirm.ts";

it.each([
  ["y\n", true],
  ["YES\n", true],
  [" yes \n", true],
  ["\n", false],
  ["n\n", false],
  ["yesterday\n", false],
  ["sure\n", false],
])("%j is %j", async (answer, yes) => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  input.write(answer);
  expect(await confirm("Delete ses_1?", input, output)).toBe(yes);
  expect(String(output.read())).toContain("Delete ses_1? [y/N] ");
});

it("the end of the input is no answer", async () => {
  const input = new PassThrough();
  input.end();
  expect(await confirm("Delete ses_1?", input, new PassThrough())).toBe(false);
});
