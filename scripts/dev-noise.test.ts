import { expect, test } from "vitest";
import { createNoiseFilter } from "./dev-noise.ts";

const keep = (lines: readonly string[]): readonly string[] => lines.filter(createNoiseFilter());

test("the notice about the local mode is left out, with its colours and the blank line after it", () => {
  expect(
    keep([
      "Vercel CLI 64.0.2 (Node.js 24.21.0)",
      "\u001b[33m\u001b[1mWARNING!\u001b[22m\u001b[39m Running dev server in local mode without a project setup:",
      "  - Environment variables will not be pulled from Vercel",
      "  - Project settings are defined by local configuration",
      "",
      "To link your project, run `vercel dev` without `-L` or `--local` or `vercel link`.",
      "Detected services:",
    ]),
  ).toEqual(["Vercel CLI 64.0.2 (Node.js 24.21.0)", "Detected services:"]);
});

test("whatever else it says stays", () => {
  const lines = [
    "WARNING! Something else",
    "  - Environment variables will not be pulled from Vercel",
    "",
    "[foreman]  WARNING! Running dev server in local mode without a project setup:",
    "Error: no",
  ];
  expect(keep(lines)).toEqual(lines);
  expect(keep(["WARNING! Running dev server in local mode without a project setup:", "Error: no", ""])).toEqual([
    "Error: no",
    "",
  ]);
});
