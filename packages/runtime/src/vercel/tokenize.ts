/**
 * A token of TypeScript source, as far as finding literal calls needs it. `string` is a string or template
 * without substitutions, with `value` its raw text; a template with substitutions is `template`.
 */
export interface Token {
  readonly kind: "word" | "punctuation" | "string" | "template";
  readonly value: string;
  readonly line: number;
}

/**
 * Splits source into tokens without comments, white space and regular expressions. Never throws: source that does
 * not parse gives tokens that make no sense, and the compiler reports it.
 */
export function tokenize(source: string): Token[] {
  const tokens: Token[] = [];
  let line = 1;
  let at = 0;
  while (at < source.length) {
    const start = at;
    const startLine = line;
    at = endOf(source, at, tokens.at(-1));
    const text = source.slice(start, at);
    for (const char of text) if (char === "\n") line++;
    const token = toToken(text, startLine);
    if (token) tokens.push(token);
  }
  return tokens;
}

function toToken(text: string, line: number): Token | undefined {
  const first = text[0]!;
  if (/\s/.test(first) || (first === "/" && text.length > 1)) return undefined;
  if (first === '"' || first === "'") return { kind: "string", value: text.slice(1, -1), line };
  if (first === "`") {
    return { kind: /(?<!\\)\$\{/.test(text) ? "template" : "string", value: text.slice(1, -1), line };
  }
  return { kind: WORD.test(first) ? "word" : "punctuation", value: text, line };
}

const WORD = /[\p{ID_Continue}$]/u;

/** Index just behind the token, comment, regular expression or white space that starts at `at`. */
function endOf(source: string, at: number, before: Token | undefined): number {
  const char = source[at]!;
  if (/\s/.test(char)) return run(source, at, /\s/);
  if (WORD.test(char)) return run(source, at, WORD);
  if (char === '"' || char === "'") return endOfQuoted(source, at, char);
  if (char === "`") return endOfTemplate(source, at);
  if (source.startsWith("//", at)) return indexOr(source, "\n", at, 0);
  if (source.startsWith("/*", at)) return indexOr(source, "*/", at + 2, 2);
  if (char === "/" && startsExpression(before)) return endOfRegExp(source, at);
  return at + 1;
}

function run(source: string, at: number, pattern: RegExp): number {
  let end = at + 1;
  while (end < source.length && pattern.test(source[end]!)) end++;
  return end;
}

function indexOr(source: string, text: string, from: number, length: number): number {
  const index = source.indexOf(text, from);
  return index === -1 ? source.length : index + length;
}

function endOfQuoted(source: string, at: number, quote: string): number {
  for (let end = at + 1; end < source.length; end++) {
    if (source[end] === "\\") end++;
    else if (source[end] === quote) return end + 1;
    else if (source[end] === "\n") return end;
  }
  return source.length;
}

function endOfTemplate(source: string, at: number): number {
  let end = at + 1;
  while (end < source.length) {
    if (source[end] === "\\") end += 2;
    else if (source[end] === "`") return end + 1;
    else if (source.startsWith("${", end)) end = endOfSubstitution(source, end + 2);
    else end++;
  }
  return source.length;
}

function endOfSubstitution(source: string, at: number): number {
  let before: Token | undefined;
  for (let depth = 1; at < source.length;) {
    const end = endOf(source, at, before);
    const text = source.slice(at, end);
    before = toToken(text, 0) ?? before;
    at = end;
    if (text === "{") depth++;
    if (text === "}" && --depth === 0) return at;
  }
  return source.length;
}

/** A `/` here starts a regular expression, not a division. */
function startsExpression(before: Token | undefined): boolean {
  if (before === undefined) return true;
  if (before.kind === "punctuation") return !/[)\]}]/.test(before.value);
  return before.kind === "word" && /^(return|typeof|case|in|of|void|delete|throw|await|yield)$/.test(before.value);
}

function endOfRegExp(source: string, at: number): number {
  let inClass = false;
  for (let end = at + 1; end < source.length; end++) {
    const char = source[end];
    if (char === "\n") return at + 1;
    if (char === "\\") end++;
    else if (char === "[") inClass = true;
    else if (char === "]") inClass = false;
    else if (char === "/" && !inClass) return run(source, end, /[a-z/]/);
  }
  return source.length;
}
