import * as v from "valibot";
import { forbidden, type TokenGrant } from "../auth/authenticator.ts";
import { invalid, Problem } from "../problems/problem.ts";
import { readJson } from "../request/body.ts";
import { fields, validate } from "../request/validate.ts";
import type { RequestContext } from "../services.ts";
import type { DashboardServer } from "./mount.ts";

const COOKIE = "sluice_session";

/** How long a browser keeps the cookie, seconds. */
const MAX_AGE = 12 * 60 * 60;

/** The form of a token. */
const TOKEN = /^[!-~]{1,512}$/;

/** The largest body of a sign-in, in bytes. */
const MAX_BODY = 10_000;

const tokenForm = "must be a token, 16 to 512 visible ASCII characters";
const signIn = fields({ token: v.pipe(v.string(tokenForm), v.regex(TOKEN, tokenForm)) });

/**
 * Exchanges a token for a cookie.
 * @returns the `Set-Cookie` header
 * @throws {Problem} `auth_not_configured`, `unauthorized`, `forbidden` without the scope `view`, or as for any body
 */
export async function cookieForToken(c: RequestContext, server: DashboardServer): Promise<string> {
  const { authenticator, bodyBounds } = server;
  if (!authenticator.isConfiguredFor("view")) throw new Problem("auth_not_configured");
  const body = await readJson(c.req.raw, { limit: MAX_BODY, within: bodyBounds.within });
  if (body === undefined) throw invalid("", "is missing");
  const { token } = validate(signIn, body);
  const grants = await authenticator.authenticate(`Bearer ${token}`);
  if (!grants.has("view")) throw forbidden(["view"], undefined);
  return cookie(c, encodeURIComponent(token), MAX_AGE);
}

/**
 * What the token of the request's cookie may do; null if the request has no valid session. It is no error: the page
 * asks before it shows the sign-in.
 */
export async function grantsOfSession(
  c: RequestContext,
  { authenticator }: DashboardServer,
): Promise<readonly TokenGrant[] | null> {
  try {
    return (await authenticator.authenticate(`Bearer ${tokenOfCookie(c)}`)).ofToken();
  } catch (error) {
    if (error instanceof Problem && error.code === "unauthorized") return null;
    throw error;
  }
}

/** The `Set-Cookie` header that removes the cookie. */
export function noCookie(c: RequestContext): string {
  return cookie(c, "", 0);
}

/**
 * Has no `Path`, so the cookie is for the folder of this request: `/dashboard` below wherever the app is mounted.
 * The routes of `/v1` never get it.
 */
function cookie(c: RequestContext, value: string, maxAge: number): string {
  const secure = isPlainLoopback(new URL(c.req.url)) ? "" : "; Secure";
  return `${COOKIE}=${value}; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${secure}`;
}

/** Whether the request came over HTTP from this machine. Safari refuses `Secure` there; other browsers take it. */
function isPlainLoopback({ protocol, hostname }: URL): boolean {
  return protocol === "http:" && /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}

/**
 * The token of the request's cookie.
 * @throws {Problem} `unauthorized` if there is no cookie, an invalid one, or several that differ. A page of a
 *   neighbouring host can set a second one.
 */
export function tokenOfCookie(c: RequestContext): string {
  const pairs = (c.req.header("cookie") ?? "").split(";").map((pair) => pair.trim());
  const values = new Set(pairs.filter((pair) => pair.startsWith(`${COOKIE}=`)));
  const [value, ...others] = [...values].map((pair) => decoded(pair.slice(COOKIE.length + 1)));
  if (value === undefined || others.length > 0) {
    throw new Problem("unauthorized", {
      detail: "The request has no cookie of a session. Sign in with a token: POST it to `dashboard/session`.",
    });
  }
  return value;
}

function decoded(value: string): string | undefined {
  try {
    const token = decodeURIComponent(value);
    return TOKEN.test(token) ? token : undefined;
  } catch {
    return undefined;
  }
}
