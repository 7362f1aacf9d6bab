import { messageOf } from "../../src/errors.ts";
import type { Change, LawMutant } from "./mutant.ts";
import { type Form, type Language, lua, type Source, sourcesOf, src, wordsOf } from "./syntax/languages.ts";
import { type Match, matchesIn, parsePattern, type Pattern } from "./syntax/pattern.ts";

/** A text in place of another in a source. */
export interface Edit {
  readonly source: Source;
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/**
 * The edit that a mutant is.
 * @throws with its name, if its pattern describes no place, or several, or what it makes of it is not valid
 */
export function editOf(name: string, mutant: LawMutant): Edit {
  try {
    return findEdit(mutant);
  } catch (error) {
    throw new Error(`${name}: ${messageOf(error)}`, { cause: error });
  }
}

function findEdit({ in: place, lua: ofLua, src: ofSrc }: LawMutant): Edit {
  const [language, change] = ofLua ? [lua, ofLua] : ofSrc ? [src, ofSrc] : fail("is in neither lua nor src");
  const pattern = patternOf(language, change);
  const isCondition = /never|always/.test(change.does);
  // A name alone is a condition only where one is asked for.
  const isMeant = ({ nodes: [node], parent }: Place) =>
    !isCondition || node?.type !== "Identifier" || CONDITIONS.test(parent?.type ?? "");
  const found = search(language, pattern, place?.split(".") ?? []).filter(isMeant);
  const [one, ...others] = found;
  if (one === undefined) {
    const elsewhere = place === undefined ? [] : search(language, pattern, []);
    const hint = elsewhere.length > 0 ? `, but is at ${listed(elsewhere)}` : "";
    return fail(`is nowhere${place === undefined ? "" : ` in ${place}`}${hint}: ${change.find}`);
  }
  if (others.length > 0) return fail(`is ${found.length} times, at ${listed(found)}: ${change.find}`);
  const edit = { ...one, text: changed(one, pattern, change) };
  language.parse(mutated(edit), `the mutant of ${edit.source.file}`);
  return edit;
}

/** What has a condition. */
const CONDITIONS = /^(?:If|Elseif|While|Repeat|Conditional|Logical|Unary)/;

const FORMS = ["expression", "statements", "property"] as const;

type Place = Match & { readonly source: Source };

const fail = (why: string): never => {
  throw new Error(why);
};

const listed = (places: readonly Place[]) =>
  places.map(({ source, from }) => placeOf(source, from)).join(", ");

/** Such as `src/x.ts:12`. */
export const placeOf = ({ file, text }: Source, at: number): string =>
  `${file}:${text.slice(0, at).split("\n").length}`;

/** The source with the edit. */
export const mutated = ({ source: { text: whole }, from, to, text }: Edit): string =>
  whole.slice(0, from) + text + whole.slice(to);

function patternOf(language: Language, change: Change): Pattern {
  switch (change.does) {
    case "drop":
      return parsePattern(language, change.find, ["statements"]);
    case "change": {
      const forms = FORMS.filter((form) => parses(language, change.put ?? "", form));
      return parsePattern(language, change.find, forms);
    }
    default:
      return parsePattern(language, change.find, ["expression"]);
  }
}

function parses(language: Language, text: string, form: Form): boolean {
  try {
    return Boolean(parsePattern(language, text, [form]));
  } catch {
    return false;
  }
}

function search(language: Language, pattern: Pattern, within: readonly string[]): Place[] {
  const words = pattern.nodes.flatMap(wordsOf);
  return sourcesOf(language)
    .filter(({ text }) => words.every((word) => text.includes(word)))
    .flatMap((source) => matchesIn(source, pattern, within).map((match) => ({ ...match, source })));
}

/** What comes in place of a match. */
function changed(match: Place, { form }: Pattern, change: Change): string {
  const { source, captured } = match;
  const { language, text } = source;
  if (change.does === "never") return "false";
  if (change.does === "always") return "true";
  if (change.does === "drop") return language.nothing;
  const put = (change.put ?? "").replaceAll(/\b_[1-9]\b|…/g, (name) => {
    const span = captured.get(name);
    if (!span) return fail(`${name} is not in ${change.find}`);
    return name === "…" ? text.slice(...span) : grouped(language, text.slice(...span));
  });
  return form === "expression" ? grouped(language, put) : put;
}

/** An expression, in parentheses if its parts could belong to what is around it. */
function grouped(language: Language, text: string): string {
  const [node] = parsePattern(language, text, ["expression"]).nodes;
  return /^(?:Binary|Logical|Unary|Conditional|Sequence|Await|Arrow)/.test(node?.type ?? "")
    ? `(${text})`
    : text;
}
