/**
 * What every answer says that does not say otherwise: no cache keeps it, no browser guesses at its type, loads anything for it
 * or shows it inside another page. There is no CORS header beside them: scripts of other origins are not let in.
 */
export const closedHeaders: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};
