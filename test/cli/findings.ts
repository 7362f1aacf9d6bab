/** A line that the doctor prints as JSON. */
export interface Finding {
  readonly status: string;
  readonly about: string;
  readonly found: string;
  readonly advice?: string;
}

/** Findings by what they are about, each as `[status, found, advice]`. */
export const byAbout = (rows: readonly Finding[]) =>
  Object.fromEntries(rows.map(({ about, status, found, advice }) => [about, [status, found, advice]]));
