import { invalidArgument } from "../../errors.ts";
import { typeOf } from "../options/type-of.ts";

/**
 * Checks that headers are texts by name. A `Headers` or a `Map` has neither: it would be taken for empty.
 * @throws {SluiceError} `invalid_argument`
 */
export function headerTexts(value: unknown, path: string): Readonly<Record<string, string>> {
  const isValid =
    typeOf(value) === "Object" &&
    Object.entries(value as object).every(([name, text]) => name !== "" && typeof text === "string");
  if (isValid) return value as Readonly<Record<string, string>>;
  throw invalidArgument(
    path,
    "must be a plain object of texts, with names that are not empty; Object.fromEntries(headers) makes one of a Headers or a Map",
  );
}
