/** Filters: which messages of a topic a subscription takes, by their headers. */
import { invalidArgument } from "../../errors.ts";
import { onlyOptions, trueOrFalse } from "../../kernel/options/validation.ts";

/** A condition on one header of a message. */
export type HeaderFilter = {
  /** The name of the header. */
  readonly header: string;
} & (
  | { /** Takes messages whose header is one of these texts. */ readonly in: readonly string[] }
  | {
      /** Takes messages whose header is none of these texts, or absent. */ readonly notIn: readonly string[];
    }
  | { /** Takes messages that have the header, or with false those that do not. */ readonly exists: boolean }
);

/** Which messages a subscription takes: a condition, or several that must all be met. */
export type TopicFilter = HeaderFilter | readonly HeaderFilter[];

/** Most conditions of one filter, and most texts of one condition. */
const MAX_CONDITIONS = 10;
const MAX_TEXTS = 100;

/**
 * A checked filter as its conditions.
 * @throws {SluiceError} `invalid_argument`
 */
export function conditionsOf(filter: TopicFilter | undefined, path = "filter"): readonly HeaderFilter[] {
  if (filter === undefined) return [];
  const conditions = Array.isArray(filter) ? (filter as readonly HeaderFilter[]) : [filter as HeaderFilter];
  if (conditions.length > MAX_CONDITIONS)
    throw invalidArgument(path, `must have at most ${MAX_CONDITIONS} conditions`);
  return conditions.map((condition, i) =>
    checked(condition, Array.isArray(filter) ? `${path}[${i}].` : `${path}.`),
  );
}

function checked(given: HeaderFilter, at: string): HeaderFilter {
  onlyOptions(given, ["header", "in", "notIn", "exists"], at);
  const {
    header,
    in: one,
    notIn,
    exists,
  } = given as Partial<Record<"header" | "in" | "notIn" | "exists", unknown>>;
  if (typeof header !== "string" || header === "" || header.length > 256) {
    throw invalidArgument(`${at}header`, "must be the name of a header");
  }
  const [found, ...others] = Object.entries({ in: one, notIn, exists }).filter(
    ([, value]) => value !== undefined,
  );
  if (!found || others.length > 0)
    throw invalidArgument(`${at}header`, "must be given with one of in, notIn and exists");
  if (found[0] === "exists") return { header, exists: trueOrFalse(exists, `${at}exists`) };
  const texts = found[1];
  const areTexts = Array.isArray(texts) && texts.every((text) => typeof text === "string");
  if (!areTexts || texts.length === 0 || texts.length > MAX_TEXTS) {
    throw invalidArgument(at + found[0], `must be an array of 1 to ${MAX_TEXTS} texts`);
  }
  return { header, [found[0]]: texts } as unknown as HeaderFilter;
}

/** Whether a message with these headers meets all conditions. */
export function passes(
  conditions: readonly HeaderFilter[],
  headers: Readonly<Record<string, string>> | undefined = {},
): boolean {
  return conditions.every((condition) => {
    const value = Object.hasOwn(headers, condition.header) ? headers[condition.header] : undefined;
    if ("exists" in condition) return (value !== undefined) === condition.exists;
    if ("in" in condition) return value !== undefined && condition.in.includes(value);
    return value === undefined || !condition.notIn.includes(value);
  });
}
