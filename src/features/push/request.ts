import { invalidArgument } from "../../errors.ts";

/** Headers that concern the connection. The sender itself sets them. */
const OF_CONNECTION =
  /^(?:host|connection|content-length|transfer-encoding|keep-alive|upgrade|te|trailer|expect|proxy-.*)$/i;

/**
 * Checks headers of a request. No error repeats a value.
 * @throws {SluiceError} `invalid_argument`
 */
export function checkHeaders(headers: Readonly<Record<string, string>>, path = "headers"): void {
  for (const [name, value] of Object.entries(Object(headers) as object)) {
    const at = `${path}.${name}`;
    if (OF_CONNECTION.test(name)) throw invalidArgument(at, "is set by the sender itself");
    try {
      new Headers().set(name, value as string);
    } catch {
      throw invalidArgument(at, "must be a header of HTTP, with a text as its value");
    }
  }
}

/** Headers under lower-case names; of two with one name the later one counts. */
export function joinedHeaders(
  ...all: readonly (Readonly<Record<string, string>> | undefined)[]
): Record<string, string> {
  const entries = all.flatMap((headers) => Object.entries(headers ?? {}));
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), value]));
}
