/** The path of a queue, or of what it has, below the dashboard. */
export const pathOf = (queue: string, ...rest: readonly string[]) =>
  ["api/v1/queues", ...[queue, ...rest].map(encodeURIComponent)].join("/");

/** The parameters of a query, without those that are empty. */
export const queryOf = (query: Readonly<Record<string, string | number | boolean | undefined>>) => {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? "" : `?${new URLSearchParams(given).toString()}`;
};

/** Schedules, workers or groups of one page. */
const SIZE = 50;

export type Cursor = string | undefined;

export const pageOf = (queue: string, what: string, cursor: Cursor) =>
  pathOf(queue, what) + queryOf({ size: SIZE, cursor });
