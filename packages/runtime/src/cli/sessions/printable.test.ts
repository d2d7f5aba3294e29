import { describe, expect, it } from "vitest";
import { cut, toAge, toLine, toPrintable } from "./printable.ts";

describe("toPrintable", () => {
  it.each([
    ["plain, Grüße, 你好, 👋🏽, a\u200db", "plain, Grüße, 你好, 👋🏽, a\u200db"],
    ["a\tb\nc\r\nd\re", "a\tb\nc\nd\ne"],
    ["\u001b[2J\u001b]0;title\u0007", "\\u{1b}[2J\\u{1b}]0;title\\u{7}"],
    ["\u009b31m\u0000\u007f", "\\u{9b}31m\\u{0}\\u{7f}"],
    ["\u202eevil\u2066", "\\u{202e}evil\\u{2066}"],
    ["a\u2028b", "a\\u{2028}b"],
  ])("%j", (text, shown) => expect(toPrintable(text)).toBe(shown));
});

describe("toLine", () => {
  it.each([
    ["two\n  lines\t", "two lines"],
    ["", ""],
    ["1234567890", "1234567890"],
    ["12345678901", "123456789…"],
    ["👋".repeat(11), `${"👋".repeat(9)}…`],
    [" ".repeat(1_000), "…"],
    [`a${" ".repeat(1_000)}b`, "a…"],
  ])("%j", (text, line) => expect(toLine(text, 10)).toBe(line));
});

describe("cut", () => {
  it.each([
    ["12345", "12345"],
    ["1234567", "12345… (2 characters more: --full)"],
    ["1234👋5", "1234… (3 characters more: --full)"],
  ])("%j", (text, shown) => expect(cut(text, 5)).toBe(shown));
});

it.each([
  [-5, "0 s"],
  [59_999, "59 s"],
  [60_000, "1 min"],
  [3_600_000, "1 h"],
  [86_399_999, "23 h"],
  [200_000_000, "2 d"],
])("toAge(%j)", (ms, age) => expect(toAge(ms)).toBe(age));
