import { describe, expect, it } from "vitest";
import { isUsageError } from "../usage-error.ts";
import { parseCommand } from "./parse-command.ts";

const HERE = { member: undefined, store: undefined };
const LIST = { limit: 20, status: undefined, all: false, json: false };

describe("parseCommand", () => {
  it.each([
    [[], { name: "list", place: HERE, options: LIST }],
    [["list"], { name: "list", place: HERE, options: LIST }],
    [
      ["--status", "working", "--limit=5", "--all", "--json", "--member", "research"],
      {
        name: "list",
        place: { ...HERE, member: "research" },
        options: { limit: 5, status: "working", all: true, json: true },
      },
    ],
    [
      ["show", "ses_1", "--full", "--store", "/srv/store"],
      {
        name: "show",
        place: { ...HERE, store: "/srv/store" },
        options: { id: "ses_1", full: true, json: false },
      },
    ],
    [
      ["export", "--out", "a.ndjson", "ses_1"],
      { name: "export", place: HERE, options: { id: "ses_1", out: "a.ndjson" } },
    ],
    [
      ["delete", "a", "b", "--yes"],
      { name: "delete", place: HERE, options: { ids: ["a", "b"], yes: true, json: false } },
    ],
    [["retry", "a"], { name: "retry", place: HERE, options: { id: "a", json: false } }],
    [["fork", "a", "--at", "0"], { name: "fork", place: HERE, options: { id: "a", at: 0, json: false } }],
    [["fork", "a", "--json"], { name: "fork", place: HERE, options: { id: "a", at: undefined, json: true } }],
    [["help"], { name: "help", place: {} }],
    [["show", "--help"], { name: "help", place: {} }],
    [["-h"], { name: "help", place: {} }],
  ])("%j", (args, command) => expect(parseCommand(args)).toEqual(command));

  it.each([
    [["lst"], /no "lst"; there are list, show/],
    [["toString"], /no "toString"/],
    [["list", "ses_1"], /"ses_1" is one too many/],
    [["show"], /id of a session is missing/],
    [["show", ""], /id of a session is missing/],
    [["show", "a", "b"], /"b" is one too many/],
    [["delete"], /id of a session is missing/],
    [["delete", "--yes"], /id of a session is missing/],
    [["delete", "a", ""], /id of a session is missing/],
    [["show", "a", "--yes"], /--yes/],
    [["delete", "a", "--force"], /--force/],
    [["--limit", "0"], /--limit must be .* from 1 to 1000, not "0"/],
    [["--limit", "1001"], /--limit/],
    [["--limit", "1e2"], /--limit/],
    [["--limit"], /--limit/],
    [["--limit="], /--limit must not be empty/],
    [["--status", "done"], /working, waiting or ended, not "done"/],
    [["fork", "a", "--at=-1"], /--at must be the index of an event/],
    [["fork", "a", "--at", "1.5"], /--at/],
    [["--store", ""], /--store must not be empty/],
    [["--member", "a", "--store", "b"], /two stores/],
  ])("%j is a usage error", (args, message) => {
    let thrown: unknown;
    try {
      parseCommand(args);
    } catch (error) {
      thrown = error;
    }
    expect(isUsageError(thrown)).toBe(true);
    expect((thrown as Error).message).toMatch(message);
  });
});
