import { invalidArgument } from "../../errors.ts";
import { listOf, onlyOptions, wholeNumber } from "../../kernel/options/validation.ts";
import { HTTP, parsedUrl } from "../../url.ts";
import { isAddress, isPublic } from "./addresses.ts";
import type { UrlPolicy } from "./types.ts";

/** The names of {@link UrlPolicy}. */
export const POLICY_OPTIONS = ["allow", "allowPrivate", "ports", "redirects"] as const;

const MOST_REDIRECTS = 5;
const MOST_HOSTS = 1_000;
const LONGEST_URL = 2_048;

/** Names that lead into the own network, or to the own machine. Names without a dot do too. */
const PRIVATE_NAME =
  /^[^.]+$|(?:^|\.)(?:localhost|local|localdomain|internal|intranet|lan|home|corp|home\.arpa)$/;

/** A name, and `*.` in front of it for those below it. */
const HOST = /^(?:\*\.)?[\p{L}\p{N}\p{M}_-]+(?:\.[\p{L}\p{N}\p{M}_-]+)*$/u;

/**
 * Checks a policy.
 * @param at the option that has it, for errors, such as `push.`
 * @throws {SluiceError} `invalid_argument`
 */
export function checkPolicy(policy: UrlPolicy, at = "policy."): void {
  const { allow, allowPrivate, ports, redirects } = policy;
  if (allow !== undefined) hosts(allow, `${at}allow`);
  if (allowPrivate !== undefined) hosts(allowPrivate, `${at}allowPrivate`);
  if (redirects !== undefined) wholeNumber(redirects, `${at}redirects`, 0, MOST_REDIRECTS);
  if (ports === undefined) return;
  listOf(ports, `${at}ports`, MOST_HOSTS);
  for (const [i, port] of ports.entries()) wholeNumber(port, `${at}ports[${i}]`, 1, 65_535);
}

function hosts(list: readonly string[], at: string): void {
  listOf(list, at, MOST_HOSTS);
  for (const [i, host] of list.entries()) {
    if (typeof host === "string" && (HOST.test(host) || isAddress(host))) continue;
    throw invalidArgument(`${at}[${i}]`, "must be a host, such as api.example.com or *.example.com");
  }
}

/**
 * Checks a URL that requests are to go to, before it is stored: `push` checks it again before each request, with the
 * addresses that its name then has. No error repeats the URL.
 * @param policy the one of `push`. Default: any public host
 * @param path of the URL, for errors
 * @returns the URL
 * @throws {SluiceError} `invalid_argument`, with the reason
 * @example
 * checkedTarget(request.url, { allow: ["*.example.com"] });
 */
export function checkedTarget(url: string | URL, policy: UrlPolicy = {}, path = "url"): URL {
  onlyOptions(policy, POLICY_OPTIONS, "policy.");
  checkPolicy(policy);
  const reason = refusal(url, policy);
  if (typeof reason === "string") throw invalidArgument(path, reason);
  return reason;
}

/** The URL, or why requests may not go to it. The policy is valid. */
export function refusal(given: string | URL, policy: UrlPolicy): URL | string {
  const text = String(given);
  const url = text.length <= LONGEST_URL ? parsedUrl(text, HTTP) : undefined;
  if (!url) return `must be a URL of at most ${LONGEST_URL} characters that begins with https:// or http://`;
  if (url.username || url.password) return "must be a URL without user and password";
  const host = hostOf(url);
  if (policy.allow && !isListed(host, policy.allow)) return "must have one of the hosts that are allowed";
  if (!portAllowed(url, policy)) return "must have a port that is allowed";
  const isPrivate = isAddress(host) ? !isPublic(host) : PRIVATE_NAME.test(host);
  if (isPrivate && !mayBePrivate(host, policy))
    return "must have a public host, not one of a private network";
  return url;
}

/** The host of a URL in its one form: in lower case, without brackets and dots at the end. */
export const hostOf = ({ hostname }: URL): string =>
  hostname.startsWith("[") ? hostname.slice(1, -1) : hostname.replace(/\.+$/, "");

/** Whether a policy lets a host have private addresses. */
export const mayBePrivate = (host: string, { allowPrivate = [] }: UrlPolicy): boolean =>
  isListed(host, allowPrivate);

function isListed(host: string, list: readonly string[]): boolean {
  return list.some((given) => {
    if (given.startsWith("*.")) return host.endsWith(`.${formOf(given.slice(2))}`);
    return host === formOf(given);
  });
}

/** A host of a list in the form that URLs have: names in punycode, addresses of IPv6 in short. */
function formOf(given: string): string {
  const url = `http://${given.includes(":") ? `[${given}]` : given}`;
  return URL.canParse(url) ? hostOf(new URL(url)) : given;
}

function portAllowed({ port, protocol }: URL, { ports }: UrlPolicy): boolean {
  const number = port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
  return ports ? ports.includes(number) : number === 80 || number === 443 || number >= 1_024;
}
