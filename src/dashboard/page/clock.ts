/** How far the server's clock is ahead of the viewer's, ms. */
let ahead = 0;

/** Differences below this are the time of a request, and the Date header's lack of milliseconds, ms. */
const NOTICEABLE = 1_000;

/** The server's time, epoch ms, by which ages are shown: the viewer's clock may be wrong. */
export const serverTime = () => Date.now() + ahead;

/**
 * Takes the server's time from a reply.
 * @param body what has Redis's time, if it has the field `now`
 * @param date the Date header, in whole seconds
 */
export function noteServerTime(body: unknown, date: string | null): void {
  const { now } = (body ?? {}) as { readonly now?: unknown };
  const found = (typeof now === "number" ? now : Date.parse(date ?? "") + 500) - Date.now();
  if (Math.abs(found - ahead) > NOTICEABLE) ahead = found;
}
