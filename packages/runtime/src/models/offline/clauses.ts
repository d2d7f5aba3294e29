/** A message, taken apart into clauses that each speak to one or more of the named tools. */
export interface Instruction {
  /** What stands before the first clause that names a tool. */
  readonly preamble: string;
  /** Text handed along with the instruction, after a colon and a line break. */
  readonly payload: string;
  readonly clauses: readonly Clause[];
}

export interface Clause {
  readonly text: string;
  readonly names: readonly Addressee[];
  /** The clause without the words that address the tool: `what a tide is`. */
  readonly request: string;
}

export interface Addressee {
  readonly name: string;
  /** Id of the task the clause continues, when it is written out. */
  readonly taskId?: string;
}

export function readInstruction(message: string, toolNames: readonly string[]): Instruction {
  const { head, payload } = splitPayload(message);
  const masked = maskQuotes(head);
  const mentions = findMentions(masked, toolNames);
  const [first] = mentions;
  if (first === undefined) return { preamble: head.trim(), payload, clauses: [] };

  const pieces = splitPieces(masked, mentions);
  const opening = pieces.findIndex((piece) => within(mentions, piece).length > 0);
  const clauses: { start: number; end: number }[] = [];
  for (const piece of pieces.slice(opening)) {
    const last = clauses.at(-1);
    if (within(mentions, piece).length > 0 || last === undefined) clauses.push({ ...piece });
    else if (!FOR_ME.test(masked.slice(piece.start, piece.end))) last.end = piece.end;
  }
  return {
    preamble: head
      .slice(0, pieces[opening]?.start ?? 0)
      .trim()
      .replace(/[,;:\s]+$/, ""),
    payload,
    clauses: clauses.map((span) => toClause(head, masked, span, within(mentions, span))),
  };
}

/** True when a request speaks of something said earlier: `check it`, `sum up the results`. */
export function refersBack(request: string): boolean {
  const masked = maskQuotes(request);
  return (
    /\b(?:it|them|these|those|this(?!\s*:)|the (?:answers?|results?|reply|replies|findings?|outputs?|responses?)|both (?:answers|results|replies|of))\b/i.test(
      masked,
    ) || /\bthat\b(?!\s+(?:the|an?|my|our|your|he|she|they|we|you|i|there)\b)(?!\s*:)/i.test(masked)
  );
}

interface Mention extends Addressee {
  readonly start: number;
  readonly end: number;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

const SEPARATOR =
  /\n+\s*(?:[-*•]\s+|\d+[.)]\s+)?|;\s*|(?<=[.!?])\s+|,?\s+(?:and\s+)?then\s+|,\s*(?:and|but)\s+|(?:,\s*|\s+and\s+)(?=(?:please\s+)?(?:ask|let|have|tell|get|use|call)\b)/gi;

/** Pieces that tell this model how to answer, and so belong to no tool. */
const FOR_ME =
  /^(?:(?:please|finally|now|and|then)[\s,]+)*(?:combine|merge|collect|join|put|tell me|give me|show me|report|reply|answer me|let me know|thanks?|thank you)\b/i;

const LEAD =
  /^(?:(?:please|now|first|next|then|finally|also|and|but|so|okay?|hey|hi|hello|could you|can you|would you|will you|i want you to|i'd like you to)[\s,]+)*(?:(?:ask|let|have|tell|get|use|call|run|invoke|make|query|consult|(?:delegate|hand|give|pass)(?:\s+(?:this|it))?\s+to)\s+)?(?:(?:the|our|your|my|an?|both)\s+)?$/i;

const NOUN = /^\s*(?:sub-?agents?|agents?|tools?|peers?|members?)\b/i;
const LINK = /^\s*(?:(?:to|for|about|should|please)\s+)?/i;
const TRAILING_LEAD = /^(.*?)[\s,]+(?:to|with|from|by|using|via|through)\s+(?:(?:the|our|your|my)\s+)?$/is;

function toClause(head: string, masked: string, span: Span, mentions: readonly Mention[]): Clause {
  const names = addressees(masked, mentions);
  const text = head.slice(span.start, span.end).trim();
  const lead = head.slice(span.start, names[0]?.start ?? span.end).trimStart();
  const tail = head
    .slice(names.at(-1)?.end ?? span.end, span.end)
    .replace(NOUN, "")
    .replace(/^\s*[:,–—-]\s*/, "")
    .replace(LINK, "");
  const request = trimEnds(LEAD.test(lead) ? tail : (requestBefore(lead, tail) ?? text));
  return { text, names, request: request === "" ? trimEnds(text) : request };
}

/** `find out what a tide is with research` → `find out what a tide is` */
function requestBefore(lead: string, tail: string): string | undefined {
  if (trimEnds(tail) !== "") return undefined;
  const before = TRAILING_LEAD.exec(lead)?.[1];
  return before?.replace(/^(?:please\s+)?(?:delegate|give|hand|pass|send|forward)\s+/i, "");
}

/** The first name of a clause, and those listed with it: `research, writer and reviewer`. */
function addressees(masked: string, mentions: readonly Mention[]): readonly Mention[] {
  const last = mentions.findIndex((mention, at) => {
    const next = mentions[at + 1];
    return next === undefined || !/^\s*(?:,|and|&|,\s*and)\s*(?:the\s+)?$/i.test(masked.slice(mention.end, next.start));
  });
  return mentions.slice(0, last + 1);
}

function splitPieces(masked: string, mentions: readonly Mention[]): Span[] {
  const pieces: Span[] = [];
  let start = 0;
  const cut = (end: number, next: number): void => {
    if (masked.slice(start, end).trim() !== "") pieces.push({ start, end });
    start = next;
  };
  for (const match of masked.matchAll(SEPARATOR)) {
    if (inList(masked, mentions, match.index)) continue;
    cut(match.index, match.index + match[0].length);
  }
  cut(masked.length, masked.length);
  return pieces.flatMap((piece) => splitAtNames(masked, piece, within(mentions, piece)));
}

/** `ask research what a tide is and the reviewer to check it` has no other mark between its two clauses. */
function splitAtNames(masked: string, piece: Span, mentions: readonly Mention[]): Span[] {
  const named = addressees(masked, mentions);
  const next = mentions
    .slice(named.length)
    .find(
      ({ name, start }) =>
        named.every((other) => other.name !== name) && BEFORE_NAME.test(masked.slice(piece.start, start)),
    );
  if (next === undefined) return [piece];
  const end = piece.start + (BEFORE_NAME.exec(masked.slice(piece.start, next.start))?.index ?? 0);
  return [
    { start: piece.start, end },
    ...splitAtNames(
      masked,
      { start: next.start, end: piece.end },
      within(mentions, { start: next.start, end: piece.end }),
    ),
  ];
}

const BEFORE_NAME = /\s+and\s+(?:the\s+)?$/i;

function inList(masked: string, mentions: readonly Mention[], at: number): boolean {
  const before = mentions.findLast((mention) => mention.end <= at);
  const after = mentions.find((mention) => mention.start > at);
  if (before === undefined || after === undefined) return false;
  return /^\s*(?:,|,?\s*and)\s*(?:the\s+)?$/i.test(masked.slice(before.end, after.start));
}

function findMentions(masked: string, toolNames: readonly string[]): readonly Mention[] {
  const found = toolNames.flatMap((name) => {
    const words = name
      .split(/[_-]+/)
      .filter((word) => word !== "")
      .map((word) => word.replace(/[^\p{L}\p{N}]/gu, "\\$&"));
    if (words.length === 0) return [];
    const pattern = new RegExp(
      `(?<![\\p{L}\\p{N}_-])${words.join("[\\s_-]+")}(-[a-z0-9]{6})?(?![\\p{L}\\p{N}_])(?!-[\\p{L}\\p{N}])`,
      "giu",
    );
    return Array.from(masked.matchAll(pattern), (match): Mention => ({
      name,
      start: match.index,
      end: match.index + match[0].length,
      ...(match[1] === undefined ? {} : { taskId: `${name}${match[1]}` }),
    }));
  });
  const kept: Mention[] = [];
  for (const mention of found.sort((a, b) => a.start - b.start || b.end - a.end)) {
    if (mention.name === "agent" && !isAddressed(masked, mention)) continue;
    if (mention.start >= (kept.at(-1)?.end ?? 0)) kept.push(mention);
  }
  return kept;
}

/** The root copy's name is an everyday word, so it counts only where a clause begins by addressing somebody. */
function isAddressed(masked: string, { start, end }: Mention): boolean {
  return ADDRESSED.test(masked.slice(0, start)) && /^(?:\s+[^\s.!?;)]|\s*[:,])/.test(masked.slice(end));
}

const ADDRESSED =
  /(?:^|[.!?,;:\n]|\b(?:and|then|please|now|first|also))\s*(?:ask|let|have|tell|get|use|call)\s+(?:(?:the|an?|another|your)\s+)?$/i;

function within(mentions: readonly Mention[], span: Span): readonly Mention[] {
  return mentions.filter((mention) => mention.start >= span.start && mention.end <= span.end);
}

/** Instructions are read up to here; a longer text is material, and patterns stay cheap. */
const HEAD_LIMIT = 8_000;

/** `check this:` and a line break hand over a text, unless a list of instructions follows. */
function splitPayload(message: string): { head: string; payload: string } {
  const match = /:[ \t]*\n\s*/.exec(message);
  const payload = match === null ? "" : message.slice(match.index + match[0].length).trim();
  const whole = match === null || payload === "" || /^(?:[-*•]|\d+[.)])\s/.test(payload);
  const head = (whole ? message : message.slice(0, match.index)).trim().replace(/[^\S\n]{16,}/g, " ");
  if (head.length <= HEAD_LIMIT) return { head, payload: whole ? "" : payload };
  const end = Math.max(head.lastIndexOf(" ", HEAD_LIMIT), head.lastIndexOf("\n", HEAD_LIMIT), HEAD_LIMIT / 2);
  return { head: head.slice(0, end), payload: [head.slice(end).trim(), whole ? "" : payload].join("\n\n").trim() };
}

/** Same length, quoted parts blanked: they are content, neither separators nor names. */
function maskQuotes(text: string): string {
  return text.replace(QUOTED, (quoted) => "\u0001".repeat(quoted.length));
}

export const QUOTED: RegExp = /"[^"]*"|“[^”]*”|`[^`]*`|«[^»]*»|(?<![\p{L}\p{N}])'[^']*'(?![\p{L}\p{N}])/gu;

function trimEnds(text: string): string {
  return text.trim().replace(/^[,;:\s]+|[.,;:\s]+$/g, "");
}
