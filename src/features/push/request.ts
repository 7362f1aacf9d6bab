import { invalidArgument } from "../../errors.ts";

const OF_CONNECTION =
  /^(?:host|connection|content-length|transfer-encoding|keep-alive|upgrade|te|trailer|expect|proxy-.*)$/i;

/** Whether a header concerns the connection or the length of the body: the sender itself sets it. */
export const isOfConnection = (name: string): boolean => OF_CONNECTION.test(name);

/**
 * Checks headers of a request. No error repeats a value.
 * @returns the headers, without blanks and newlines around the values, such as those of secrets from files
 * @throws {SluiceError} `invalid_argument`
 */
export function checkedHeaders(
  headers: Readonly<Record<string, string>>,
  path = "headers",
): Record<string, string> {
  const entries = Object.entries(Object(headers) as object).map(([name, value]) => {
    const at = `${path}.${name}`;
    if (isOfConnection(name)) throw invalidArgument(at, "is set by the sender itself");
    try {
      if (typeof value === "string") return [name, new Headers([[name, value]]).get(name)];
    } catch {
      // No header of HTTP.
    }
    throw invalidArgument(at, "must be a header of HTTP, with a text as its value");
  });
  return Object.fromEntries(entries) as Record<string, string>;
}

/** Headers under lower-case names; of two with one name the later one counts. */
export function joinedHeaders(
  ...all: readonly (Readonly<Record<string, string>> | undefined)[]
): Record<string, string> {
  const entries = all.flatMap((headers) => Object.entries(headers ?? {}));
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), value]));
}
