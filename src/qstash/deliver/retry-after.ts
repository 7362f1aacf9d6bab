/** The headers of a response that say when to try again, the first of which counts. */
const HEADERS = [
  "retry-after",
  "x-ratelimit-reset",
  "x-ratelimit-reset-requests",
  "x-ratelimit-reset-tokens",
];

/** Longest time that is obeyed, ms: QStash's backoff has no longer one. */
const LONGEST = 86_400_000;

const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

/**
 * How long a response asks to wait, ms: in seconds, as a date, or as a duration such as `6m5s`.
 * @returns undefined if it does not, as with a date that is past, or for more than a day; 0 for at once
 */
export function retryAfterOf(headers: Headers): number | undefined {
  const text = HEADERS.map((name) => headers.get(name))
    .find((value) => value !== null)
    ?.trim();
  const ms = text === undefined ? undefined : readWait(text);
  return ms !== undefined && ms >= 0 && ms <= LONGEST ? Math.ceil(ms) : undefined;
}

function readWait(text: string): number | undefined {
  if (/^\d{1,12}(?:\.\d{1,9})?$/.test(text)) return Number(text) * 1_000;
  if (/^(?:\d{1,12}(?:\.\d{1,9})?(?:ns|us|ms|s|m|h))+$/.test(text)) {
    let ms = 0;
    for (const [, count, unit] of text.matchAll(/([\d.]+)([a-z]+)/g))
      ms += Number(count) * (UNITS[unit as string] ?? 0);
    return ms;
  }
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at - Date.now();
}
