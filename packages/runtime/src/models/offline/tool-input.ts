import { QUOTED } from "./clauses.ts";

/** What the values of an input are taken from. */
export interface InputSource {
  /** Goes into the property that looks like the text. */
  readonly text: string;
  /** Where numbers, quoted parts, choices and named values are looked for. */
  readonly clause: string;
}

type Schema = Readonly<Record<string, unknown>>;

/**
 * The best input for a JSON schema of an object: every required property gets a value of its type, optional ones
 * only what the clause mentions.
 */
export function buildInput(schema: unknown, source: InputSource): Record<string, unknown> {
  const clause = source.clause;
  const { properties, required } = shapeOf(asSchema(schema));
  return fillObject(asSchema(schema), {
    ...source,
    hasText: textPropertyOf(properties, required) !== undefined,
    numbers: findNumbers(clause),
    quotes: Array.from(clause.matchAll(QUOTED), ([quoted]) => quoted.slice(1, -1)),
  });
}

/** False when a required number is nowhere in the clause. */
export function canFill(schema: unknown, source: InputSource): boolean {
  const { properties, required } = shapeOf(asSchema(schema));
  const numbers = properties.filter(
    ([name, property]) => required.has(name) && isNumeric(property) && !("default" in property),
  );
  return numbers.length <= findNumbers(source.clause).length;
}

/** Names of the required properties that are strings. */
export function requiredStrings(schema: unknown): readonly string[] {
  const { properties, required } = shapeOf(asSchema(schema));
  return properties.flatMap(([name, property]) =>
    required.has(name) && property["type"] === "string" && property["enum"] === undefined ? [name] : [],
  );
}

interface Supply extends InputSource {
  /** Those that stand beside no property's name, in order. */
  readonly numbers: number[];
  readonly quotes: string[];
  /** Some property takes the whole text. */
  readonly hasText: boolean;
}

const TEXT_NAMES = ["text", "query", "message", "input", "topic", "question", "content", "prompt", "term", "q"];

function fillObject(schema: Schema, supply: Supply): Record<string, unknown> {
  const { properties, required } = shapeOf(schema);
  const textName = textPropertyOf(properties, required);
  const input: Record<string, unknown> = {};
  const beside = takeNumbersBesideNames(properties, supply);
  const ordered = [
    ...properties.filter(([name]) => required.has(name)),
    ...properties.filter(([name]) => !required.has(name)),
  ];
  for (const [name, property] of ordered) {
    const value =
      name === textName
        ? SEARCH_NAMES.includes(name)
          ? keywords(wholeText(supply))
          : wholeText(supply)
        : (beside.get(name) ??
          (required.has(name) ? fillRequired(name, property, supply) : fillOptional(name, property, supply)));
    if (value !== undefined) input[name] = value;
  }
  return input;
}

function fillRequired(name: string, property: Schema, supply: Supply): unknown {
  if ("const" in property) return property["const"];
  const choices = property["enum"];
  if (Array.isArray(choices)) return mentioned(choices, supply.clause) ?? property["default"] ?? choices[0];
  switch (property["type"]) {
    case "string":
      return (
        formatted(property, supply.clause) ??
        supply.quotes.shift() ??
        named(name, supply.clause) ??
        property["default"] ??
        supply.text
      );
    case "number":
    case "integer":
      if ("default" in property) return spareNumber(property, supply) ?? property["default"];
      return takeNumber(property, supply) ?? nearestToZero(property);
    case "boolean":
      return true;
    case "array":
      return fillArray(property, supply);
    case "null":
      return null;
    case "object":
      return fillObject(property, supply);
    default:
      return property["default"] ?? ("properties" in property ? fillObject(property, supply) : supply.text);
  }
}

function fillOptional(name: string, property: Schema, supply: Supply): unknown {
  const choices = property["enum"];
  if (Array.isArray(choices)) return mentioned(choices, supply.clause);
  if (isNumeric(property)) return spareNumber(property, supply);
  if (property["type"] === "string")
    return formatted(property, supply.clause) ?? supply.quotes.shift() ?? named(name, supply.clause);
  return undefined;
}

function fillArray(property: Schema, supply: Supply): unknown[] {
  const items = resolved(property["items"]);
  if (isNumeric(items)) return supply.numbers.splice(0);
  if (items["type"] !== "string") return items["type"] === "object" ? [fillObject(items, supply)] : [];
  if (Array.isArray(items["enum"])) return [fillRequired("", items, supply)];
  return supply.quotes.length > 0 ? supply.quotes.splice(0) : [supply.text];
}

/** A single quoted part is the text meant, or what follows a colon: `count the words of "a b c"`, `count: a b c`. */
function wholeText(supply: Supply): string {
  if (supply.text !== supply.clause) return supply.text;
  if (supply.quotes.length === 1) return supply.quotes.shift()!;
  return /^[^:]*[\p{L}\p{N})]:\s+(\S.*)$/su.exec(supply.text)?.[1] ?? supply.text;
}

const SEARCH_NAMES = ["query", "q", "term"];

const FILLERS: ReadonlySet<string> = new Set(
  "a about an and are did do does explain find for how in is me of on out please tell the to was were what when where which who why".split(
    " ",
  ),
);

/** `what a tide is` → `tide`; longer texts, and those of fillers only, stay as they are. */
function keywords(text: string): string {
  if (text.length > 200) return text;
  const kept = text.split(/\s+/).filter((word) => !FILLERS.has(word.toLowerCase().replace(/[?!.,:]+$/, "")));
  return kept.length === 0 ? text : kept.join(" ").replace(/[?!]+$/, "");
}

function textPropertyOf(
  properties: readonly (readonly [string, Schema])[],
  required: ReadonlySet<string>,
): string | undefined {
  const strings = properties.filter(
    ([, property]) => property["type"] === "string" && property["enum"] === undefined && !("const" in property),
  );
  const needed = strings.filter(([name]) => required.has(name));
  const candidates = needed.length > 0 || required.size > 0 ? needed : strings;
  const byName = TEXT_NAMES.find((name) => candidates.some(([candidate]) => candidate.toLowerCase() === name));
  if (byName !== undefined) return candidates.find(([candidate]) => candidate.toLowerCase() === byName)?.[0];
  return candidates.length === 1 && candidates[0]?.[1]["format"] === undefined ? candidates[0]?.[0] : undefined;
}

/** A number that is not needed: the next where no text could hold it (`the tides of 1990`). */
function spareNumber(property: Schema, supply: Supply): number | undefined {
  return supply.hasText ? undefined : takeNumber(property, supply);
}

/** `3 dice with 20 sides`, `limit 3`, `a width of 5`: these are nobody else's, wherever they stand. */
function takeNumbersBesideNames(
  properties: readonly (readonly [string, Schema])[],
  { clause, numbers }: Supply,
): ReadonlyMap<string, number> {
  const taken = new Map<string, number>();
  for (const [name, property] of properties) {
    if (!isNumeric(property)) continue;
    const value = numberBeside(name, clause);
    if (value === undefined) continue;
    taken.set(name, property["type"] === "integer" ? Math.trunc(value) : value);
    const at = numbers.indexOf(value);
    if (at >= 0) numbers.splice(at, 1);
  }
  return taken;
}

function numberBeside(name: string, clause: string): number | undefined {
  const words = name.replace(/([a-z])([A-Z])/g, "$1_$2").split(/[_-]+/);
  const number = "(-?\\d+(?:\\.\\d+)?)(?![\\p{L}\\p{N}_]|\\.\\d)";
  for (const spoken of new Set([name, words.join(" "), words.at(-1)!])) {
    const word = wordPattern(spoken).source;
    const before = spoken.length < 3 ? undefined : new RegExp(`(?<![\\p{L}\\p{N}_.-])${number}\\s+${word}`, "iu");
    const after = new RegExp(`${word}\\s*(?:is\\s+|of\\s+|[:=]\\s*|\\s)${number}`, "iu");
    const found = before?.exec(clause)?.[1] ?? after.exec(clause)?.[1];
    if (found !== undefined) return Number(found);
  }
  return undefined;
}

function takeNumber(property: Schema, supply: Supply): number | undefined {
  const value = supply.numbers.shift();
  return value !== undefined && property["type"] === "integer" ? Math.trunc(value) : value;
}

/** Not simply the minimum: `z.int()` has one, far below anything that is meant. */
function nearestToZero({ minimum, exclusiveMinimum, maximum }: Schema): number {
  if (typeof minimum === "number" && minimum > 0) return minimum;
  if (typeof exclusiveMinimum === "number" && exclusiveMinimum >= 0) return exclusiveMinimum + 1;
  return typeof maximum === "number" && maximum < 0 ? maximum : 0;
}

function findNumbers(clause: string): number[] {
  return Array.from(clause.matchAll(/(?<![\p{L}\p{N}_.-])-?\d+(?:\.\d+)?(?![\p{L}\p{N}_])/gu), ([digits]) =>
    Number(digits),
  );
}

function mentioned(choices: readonly unknown[], clause: string): unknown {
  const positions = choices.map((choice) => ({
    choice,
    at: clause.toLowerCase().search(wordPattern(String(choice).toLowerCase())),
  }));
  return positions.filter(({ at }) => at >= 0).sort((a, b) => a.at - b.at)[0]?.choice;
}

/** `city Paris`, `city: Paris` */
function named(name: string, clause: string): string | undefined {
  const value = new RegExp(
    `${wordPattern(name).source}\\s*(?:is\\s+|[:=]\\s*|\\s)([\\p{L}\\p{N}][^\\s,;]*)`,
    "iu",
  ).exec(clause)?.[1];
  return value?.replace(/[.,;:!?]+$/, "");
}

const FORMATS: Readonly<Record<string, RegExp>> = {
  date: /\d{4}-\d{2}-\d{2}/,
  "date-time": /\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:\d{2})/,
  email: /[^\s@,;<>]+@[^\s@,;<>]+\.\p{L}+/u,
  uri: /https?:\/\/[^\s,;<>"]+/,
};

function formatted(property: Schema, clause: string): string | undefined {
  return FORMATS[String(property["format"])]?.exec(clause)?.[0];
}

function wordPattern(word: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}_])${word.replace(/[^\p{L}\p{N}\s_]/gu, "\\$&")}(?![\\p{L}\\p{N}_])`, "u");
}

function isNumeric(property: Schema): boolean {
  return (
    (property["type"] === "number" || property["type"] === "integer") &&
    !Array.isArray(property["enum"]) &&
    !("const" in property)
  );
}

function shapeOf(schema: Schema): {
  properties: readonly (readonly [string, Schema])[];
  required: ReadonlySet<string>;
} {
  const properties = Object.entries(asSchema(schema["properties"])).map(
    ([name, property]) => [name, resolved(property)] as const,
  );
  const required = Array.isArray(schema["required"]) ? schema["required"].map(String) : [];
  return { properties, required: new Set(required) };
}

/** Looks through unions and nullable types to the first alternative that is not null. */
function resolved(property: unknown): Schema {
  const schema = asSchema(property);
  const alternatives = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(alternatives)) {
    return resolved(alternatives.find((option) => asSchema(option)["type"] !== "null"));
  }
  const type = schema["type"];
  return Array.isArray(type) ? { ...schema, type: type.find((one) => one !== "null") } : schema;
}

function asSchema(value: unknown): Schema {
  return typeof value === "object" && value !== null ? (value as Schema) : {};
}
