import { invalidArgument } from "./errors.ts";

export const HTTP = ["https:", "http:"] as const;
export const REDIS = ["redis:", "rediss:"] as const;

/** The URL that a text holds; undefined if it is not a URL of one of the protocols. */
export function parsedUrl(value: unknown, protocols: readonly string[]): URL | undefined {
  const url = typeof value === "string" && URL.canParse(value) && new URL(value);
  return url && protocols.includes(url.protocol) ? url : undefined;
}

/**
 * Checks a URL from options or the environment. No error repeats the URL: it may hold a password.
 * @param path the option or variable that holds it
 * @param protocols such as {@link HTTP}
 * @param without parts that the URL must not have. Default: none
 * @throws {SluiceError} `invalid_argument`
 */
export function checkedUrl(
  value: unknown,
  path: string,
  protocols: readonly string[],
  without?: "user and password" | "user, password, query and fragment",
): URL {
  const url = parsedUrl(value, protocols);
  if (!url) throw invalidArgument(path, `must be a URL that begins with ${protocols.join("// or ")}//`);
  if (without && (url.username || url.password || (without.includes("query") && url.search + url.hash))) {
    throw invalidArgument(path, `must be a URL without ${without}`);
  }
  return url;
}
