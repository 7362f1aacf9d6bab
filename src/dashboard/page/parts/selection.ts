import { useRef, useState } from "preact/hooks";

/** The rows of a table that the viewer has ticked, of this page and of the others. */
export interface Selection<Row> {
  /** By their keys, as they were when they were ticked. */
  readonly chosen: ReadonlyMap<string, Row>;
  /** Whether this page has rows. */
  readonly hasRows: boolean;
  /** Whether all rows of this page are ticked. */
  readonly hasAll: boolean;
  /** @param toHere also ticks or unticks the rows between the last one and this one */
  readonly toggle: (key: string, toHere: boolean) => void;
  /** Ticks or unticks all rows of this page. */
  readonly setAll: (ticked: boolean) => void;
  readonly clear: () => void;
}

/**
 * Keeps what is ticked while pages and refreshes come and go.
 * @param of what the rows belong to: if it changes, nothing is ticked
 */
export function useSelection<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  of: string,
): Selection<Row> {
  const [state, setState] = useState<{ readonly of: string; readonly chosen: ReadonlyMap<string, Row> }>({
    of,
    chosen: new Map(),
  });
  const last = useRef<string>();
  const chosen: ReadonlyMap<string, Row> = state.of === of ? state.chosen : new Map();
  const keys = rows.map(keyOf);
  const change = (changed: readonly Row[], ticked: boolean) => {
    const next = new Map(chosen);
    for (const row of changed) {
      if (ticked) next.set(keyOf(row), row);
      else next.delete(keyOf(row));
    }
    setState({ of, chosen: next });
  };
  return {
    chosen,
    hasRows: rows.length > 0,
    hasAll: rows.length > 0 && keys.every((key) => chosen.has(key)),
    toggle(key, toHere) {
      const to = keys.indexOf(key);
      const from = toHere && last.current !== undefined ? keys.indexOf(last.current) : -1;
      last.current = key;
      const [first, end] = from < 0 ? [to, to] : [Math.min(from, to), Math.max(from, to)];
      change(rows.slice(first, end + 1), !chosen.has(key));
    },
    setAll: (ticked) => change(rows, ticked),
    clear: () => setState({ of, chosen: new Map() }),
  };
}
