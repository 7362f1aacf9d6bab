import { invalidArgument, SluiceError } from "./errors.ts";
import { checkedUrl, HTTP } from "./url.ts";

/** The URL of a service over HTTP, and the bearer token for it. */
export interface Credentials {
  readonly url: string;
  readonly token: string;
}

/**
 * Checks the URL and the bearer token of a service. If both are missing, one error names both. No error repeats
 * their values.
 * @param hint how to pass them
 * @param names what errors call them
 * @throws {SluiceError} `invalid_argument`
 */
export function checkedCredentials(
  given: { readonly url: unknown; readonly token: unknown },
  hint: string,
  names: Credentials = { url: "url", token: "token" },
): Credentials {
  const { url, token } = given;
  const missing = (["url", "token"] as const).filter((part) => (given[part] ?? "") === "");
  if (missing.length > 0) {
    const [first, second] = missing.map((part) => names[part]);
    const subject = second === undefined ? `${first} is` : `${first} and ${second} are`;
    throw new SluiceError("invalid_argument", `${subject} missing: ${hint}`, first);
  }
  const { href } = checkedUrl(url, names.url, HTTP, "user, password, query and fragment");
  if (typeof token !== "string" || !/^[!-~]+$/.test(token)) {
    throw invalidArgument(names.token, "must be visible ASCII characters without spaces");
  }
  return { url: href, token };
}
