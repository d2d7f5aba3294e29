const TAB = "\t";

/**
 * A text as it may be shown at a terminal: what a model or a caller wrote must not move the cursor, set colours or
 * turn the direction of what stands beside it. What would is shown as its code.
 */
export function toPrintable(text: string): string {
  return text
    .replace(/\r\n?/g, "\n")
    .replace(/[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, (character) =>
      character === "\n" || character === TAB ? character : `\\u{${character.codePointAt(0)!.toString(16)}}`,
    );
}

/** The beginning of a text in one line. */
export function toLine(text: string, length: number): string {
  const line = toPrintable(text.slice(0, length * 4))
    .replace(/\s+/g, " ")
    .trim();
  const characters = [...line];
  const whole = characters.length <= length && text.length <= length * 4;
  return whole ? line : `${characters.slice(0, length - 1).join("")}…`;
}

/** A text, and beyond `length` characters how much of it is left out. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  // Not between the two halves of a character.
  const end = /[\ud800-\udbff]/.test(text[length - 1]!) ? length - 1 : length;
  return `${text.slice(0, end)}… (${text.length - end} characters more: --full)`;
}

/** How long ago, in one unit. */
export function toAge(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}
