/** What the doctor found. */
export interface Finding {
  readonly status: "ok" | "warning" | "problem" | "unknown";
  /** What was checked, such as `Redis` or the name of a queue. */
  readonly about: string;
  readonly found: string;
  /** What to do; absent if nothing. */
  readonly advice?: string;
}

export const ok = (about: string, found: string): Finding => ({ status: "ok", about, found });

export const unknown = (about: string, found: string, advice?: string): Finding => ({
  status: "unknown",
  about,
  found,
  ...(advice !== undefined && { advice }),
});

export const warning = (about: string, found: string, advice: string): Finding => ({
  status: "warning",
  about,
  found,
  advice,
});

export const problem = (about: string, found: string, advice: string): Finding => ({
  status: "problem",
  about,
  found,
  advice,
});
