/** The lines beside the rows of a drawing, which connect what waits with what it waits for. */
import type { Entry, Row } from "./rows.ts";

/** Connects rows with all rows that wait for them. */
interface Rail {
  readonly sources: ReadonlySet<number>;
  readonly targets: Set<number>;
  readonly top: number;
  bottom: number;
}

/** Most lines side by side. */
const MOST_ABREAST = 16;

/** The characters of a line: its beginning, its end, and where it goes on; then the same where one from the left joins. */
const BOXES = { begin: "┌┬", end: "└┴", on: "├┼", pass: "│", across: "─" };
const ASCII = { begin: "..", end: "''", on: "++", pass: "|", across: "-" };

/**
 * Draws the lines of each row, all of one width. A line begins at the first row that is waited for, and ends at the last
 * row that waits; `>` marks a row that waits.
 * @returns undefined if there would be too many side by side
 */
export function railsOf(rows: readonly Row[], isAscii: boolean): readonly string[] | undefined {
  const columns = columnsOf(railsBetween(rows));
  if (!columns) return undefined;
  const chars = isAscii ? ASCII : BOXES;
  return rows.map((_, row) => {
    let text = "";
    let isJoined = false;
    // The last column is next to the row.
    for (const column of columns.toReversed()) {
      const rail = column[row];
      const joins = rail !== undefined && (rail.sources.has(row) || rail.targets.has(row));
      const line = isJoined ? chars.across : " ";
      if (joins) {
        const form = rail.top === row ? chars.begin : rail.bottom === row ? chars.end : chars.on;
        text += (form[isJoined ? 1 : 0] as string) + (rail.targets.has(row) ? ">" : chars.across);
        isJoined = true;
      } else {
        text += (rail ? chars.pass : line) + line;
      }
    }
    return text;
  });
}

/** One line for all rows that wait for the same rows. */
function railsBetween(rows: readonly Row[]): Rail[] {
  const rowOf = new Map(rows.flatMap(({ nodes }, row) => nodes.map((node) => [node, row] as const)));
  const known = new Map<Entry, Rail>();
  const rails = new Map<string, Rail>();
  for (const [row, { entries }] of rows.entries()) {
    for (const entry of entries) {
      const rail =
        known.get(entry) ?? railFrom(new Set(entry.map((node) => rowOf.get(node) as number)), rails);
      known.set(entry, rail);
      rail.targets.add(row);
      rail.bottom = row;
    }
  }
  return [...rails.values()];
}

function railFrom(sources: ReadonlySet<number>, rails: Map<string, Rail>): Rail {
  const ascending = [...sources].toSorted((one, other) => one - other);
  const key = ascending.join();
  const rail = rails.get(key) ?? { sources, targets: new Set(), top: ascending[0] as number, bottom: 0 };
  rails.set(key, rail);
  return rail;
}

/** Puts rails into columns, the short ones next to the rows. Returns undefined if they need too many. */
function columnsOf(rails: readonly Rail[]): Rail[][] | undefined {
  const columns: Rail[][] = [];
  for (const rail of rails.toSorted((one, other) => one.bottom - one.top - (other.bottom - other.top))) {
    const { top, bottom } = rail;
    let column = columns.find((rows) => {
      for (let row = top; row <= bottom; row++) if (rows[row]) return false;
      return true;
    });
    if (!column) columns.push((column = []));
    if (columns.length > MOST_ABREAST) return undefined;
    for (let row = top; row <= bottom; row++) column[row] = rail;
  }
  return columns;
}
