import { invalidArgument } from "./errors.ts";

export const HTTP = ["https:", "http:"] as const;
export const REDIS = ["redis:", "rediss:"] as const;

/** The URL that a text holds; undefined if it is not a URL of one of the protocols. */
export function parsedUrl(value: unknown, protocols: readonly string[]): URL | undefined {
  const url = typeof value === "string" && URL.canParse(value) && new URL(value);
  return url && protocols.includes(url.protocol) ? url : undefined;
}

/** The form of a URL of a cluster. */
export const CLUSTER_FORM = "cluster://[user[:password]@]host[:port][,host[:port]…], or clusters://… for TLS";

/**
 * The nodes that the URL of a cluster names, each as `redis://` or `rediss://` with the user and password.
 * @returns undefined if it is not the URL of a cluster
 */
export function clusterNodes(value: unknown): URL[] | undefined {
  const [, tls, user, hosts] = (typeof value === "string" && CLUSTER_URL.exec(value)) || [];
  const nodes = hosts?.split(",").map((host) => parsedUrl(`redis${tls}://${user ?? ""}${host}`, REDIS));
  return nodes?.every((node) => node !== undefined && node.hostname !== "") ? (nodes as URL[]) : undefined;
}

const CLUSTER_URL = /^cluster(s?):\/\/([^@/?#]*@)?([^@/?#]+)\/?$/;

/**
 * Checks the URL of a Redis or of a cluster. No error repeats the URL.
 * @param path the option or variable that holds it
 * @throws {SluiceError} `invalid_argument`
 */
export function checkRedisUrl(value: unknown, path: string): void {
  const url = parsedUrl(value, REDIS);
  if (url ? isRedisUrl(url) : clusterNodes(value)?.every(hasValidCredentials)) return;
  const text = String(value);
  if (/^["'`]/.test(text)) throw invalidArgument(path, "must have no quotes around it");
  if (!/^(?:redis|cluster)s?:/i.test(text))
    throw invalidArgument(path, "must be a URL that begins with redis://, rediss:// or cluster://");
  throw invalidArgument(path, invalidForm(isClusterUrl(value) ? CLUSTER_FORM : REDIS_FORM));
}

/** The form of a URL of a Redis, or of a cluster. */
export const REDIS_FORM = "redis://[user[:password]@]host[:port][/database], rediss://… or cluster://…";

/** What is wrong with a URL that has not this form, most often because of its password. */
export function invalidForm(form: string): string {
  return `cannot be read; it must be of the form ${form}, with special characters of user and password percent-encoded (encodeURIComponent), and a port of at most 65535`;
}

/**
 * Whether a URL of a Redis has at most the number of a database as path, and readable credentials. An `@` behind the
 * path means that the password began the query or fragment.
 */
export function isRedisUrl(url: URL): boolean {
  const { pathname, search, hash } = url;
  return /^(?:\/\d*)?$/.test(pathname) && !(search + hash).includes("@") && hasValidCredentials(url);
}

export function hasValidCredentials({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}

/** Whether a text is meant as the URL of a cluster. It may be invalid. */
export function isClusterUrl(value: unknown): boolean {
  return typeof value === "string" && /^clusters?:/.test(value);
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
