import { messageOf } from "../../../src/errors.ts";
import type { Change, LawMutant } from "./mutant.ts";
import { type Language, lua, type Source, sourcesOf, src } from "./syntax/languages.ts";
import { type Match, matchesIn, wordsOf } from "./syntax/pattern.ts";

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
  const isCondition = /never|always/.test(change.does);
  // A name alone is a condition only where one is asked for.
  const isMeant = ({ node, parent }: Place) =>
    !isCondition || node.type !== "Identifier" || CONDITIONS.test(parent?.type ?? "");
  const found = search(language, change.find, place?.split(".") ?? []).filter(isMeant);
  const [one, ...others] = found;
  if (one === undefined) {
    const elsewhere = place === undefined ? [] : search(language, change.find, []);
    const hint = elsewhere.length > 0 ? `, but is at ${listed(elsewhere)}` : "";
    return fail(`is nowhere${place === undefined ? "" : ` in ${place}`}${hint}: ${change.find}`);
  }
  if (others.length > 0) return fail(`is ${found.length} times, at ${listed(found)}: ${change.find}`);
  const edit = { ...one, text: changed(one, change) };
  language.parse(mutated(edit), `the mutant of ${edit.source.file}`);
  return edit;
}

/** What has a condition. */
const CONDITIONS = /^(?:If|Elseif|While|Repeat|Conditional|Logical|Unary)/;

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

/** The lines that the edit changes, before and after. */
export function linesOf({ source: { text }, from, to, text: put }: Edit): { before: string; after: string } {
  const start = text.lastIndexOf("\n", from - 1) + 1;
  const end = (text.indexOf("\n", to) + 1 || text.length + 1) - 1;
  return { before: text.slice(start, end), after: text.slice(start, from) + put + text.slice(to, end) };
}

function search(language: Language, pattern: string, within: readonly string[]): Place[] {
  const words = wordsOf(pattern);
  return sourcesOf(language)
    .filter(({ text }) => words.every((word) => text.includes(word)))
    .flatMap((source) => matchesIn(source, pattern, within).map((match) => ({ ...match, source })));
}

/** What comes in place of a match. */
function changed({ source, captured, node }: Place, { does, find, put: given = "" }: Change): string {
  if (does === "never") return "false";
  if (does === "always") return "true";
  if (does === "drop") return source.language.nothing;
  const put = given.replaceAll(/\b_[1-9]\b|…/g, (name) => {
    const text = captured.get(name === "…" ? "rest" : name);
    if (text === undefined) return fail(`${name} is not in ${find}`);
    return name === "…" ? text : grouped(text);
  });
  return /Expression$|Literal$|^Identifier$/.test(node.type) ? grouped(put) : put;
}

/** An expression, in parentheses if its parts could belong to what is around it. */
function grouped(text: string): string {
  let rest = text;
  for (let before = ""; before !== rest;) {
    before = rest;
    rest = rest.replace(/(["'`])[^"'`]*\1|\([^()]*\)|\[[^[\]]*\]|\{[^{}]*\}/, "");
  }
  return /^[\w.#]*$/.test(rest) ? text : `(${text})`;
}
