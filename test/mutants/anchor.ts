import { messageOf } from "../../src/errors.ts";
import type { Change, LawMutant } from "./mutant.ts";
import { type Language, lua, type Source, sourcesOf, src } from "./syntax/languages.ts";
import { spanOf } from "./syntax/node.ts";
import { type Match, matchesIn, tokensOf } from "./syntax/pattern.ts";

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
  const found = search(language, change.find, place?.split(".") ?? []);
  const [one, ...others] = found;
  if (one === undefined) {
    const elsewhere = place === undefined ? [] : search(language, change.find, []);
    const hint = elsewhere.length > 0 ? `, but is at ${listed(elsewhere)}` : "";
    return fail(`is nowhere${place === undefined ? "" : ` in ${place}`}${hint}: ${change.find}`);
  }
  if (others.length > 0) return fail(`is ${found.length} times, at ${listed(found)}: ${change.find}`);
  const edit = { ...one, text: changed(one, language, change) };
  language.parse(mutated(edit), `the mutant of ${edit.source.file}`);
  return edit;
}

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

/** The places within functions or classes of these names. */
function search(language: Language, pattern: string, within: readonly string[]): Place[] {
  const words = pattern.match(/[a-z]\w+/gi) ?? [];
  return sourcesOf(language)
    .filter(({ text }) => words.every((word) => text.includes(word)))
    .flatMap((source) => {
      const found = matchesIn(source.text, source.tokens, pattern).map((match) => ({ ...match, source }));
      if (found.length === 0 || within.length === 0) return found;
      const spans = source.nodes
        .filter(({ names }) => isSubsequence(within, names))
        .map(({ node }) => spanOf(node));
      return found.filter((match) => spans.some(([from, to]) => from <= match.from && match.to <= to));
    });
}

/** Whether the names occur in this order. */
function isSubsequence(wanted: readonly string[], names: readonly string[]): boolean {
  let next = 0;
  for (const name of names) if (name === wanted[next]) next += 1;
  return next === wanted.length;
}

/** What comes in place of a match. */
function changed({ captured }: Place, language: Language, change: Change): string {
  if (change.does === "never") return "false";
  if (change.does === "always") return "true";
  if (change.does === "drop") return language.nothing;
  const put = (change.put ?? "").replaceAll(/\b_[1-9]\b|…/g, (name) => {
    const text = captured.get(name) ?? fail(`${name} is not in ${change.find}`);
    return name === "…" ? text : grouped(text);
  });
  return isStatement(change.find) ? put : grouped(put);
}

const isStatement = (code: string) => /^(?:if|for|return|local|const) |;$|(?<![=!<>~])=(?![=>])/.test(code);

/** An expression, in parentheses if its parts could belong to what is around it. */
function grouped(code: string): string {
  let depth = 0;
  const isOperator = tokensOf(code).some(({ text }) => {
    if (/^[([{]$/.test(text)) depth++;
    if (/^[)\]}]$/.test(text)) depth--;
    return depth === 0 && OPERATOR.test(text);
  });
  return isOperator ? `(${code})` : code;
}

const OPERATOR = /^(?:and|or|not|await|[=!~]==?|[<>]=?|=>|\.\.|&&|\|\||[-+*/%?!])$/;
