import { Table } from "console-table-printer";
import { printable, shortened } from "./printable.ts";

type CellOf<Row> = (row: Row) => string | number | null | undefined;

/** On a narrow terminal a column that is neither `copied` nor `fills` may be left out, the last one first. */
export interface Column<Row> {
  readonly title: string;
  readonly of: CellOf<Row>;
  /** The cell on a narrow terminal, such as a time without its year. */
  readonly short?: CellOf<Row>;
  /** A name, an id or a receipt, which is copied into the next command: whole at any width. */
  readonly copied?: boolean;
  readonly align?: "left" | "right";
  /** Colours a cell, after its width is known. */
  readonly color?: (cell: string, row: Row) => string;
  /** Takes the width that the others leave, and is cut to it; only one column may. */
  readonly fills?: boolean;
  /** The width for which the column that fills makes others be left out, while there are some. @default {@link LEAST} */
  readonly least?: number;
  /** Cuts a cell of the column that fills. @default {@link shortened} */
  readonly cut?: (text: string, most: number) => string;
  /** Left out if it is empty in every row. */
  readonly optional?: boolean;
}

/** A column with its cells. */
interface Cells<Row> {
  readonly column: Column<Row>;
  readonly texts: readonly string[];
  readonly width: number;
}

const none = { left: "", mid: "", right: "", other: "" };
const style = { headerTop: none, headerBottom: none, tableBottom: none, rowSeparator: none, vertical: "" };

/** Between two columns, in characters. */
const GAP = 2;

/** The least width of the column that fills. */
const LEAST = 10;

/** The most characters of a cell: a payload may have a million. */
const MOST = 1_000;

/**
 * A table of plain columns, as wide as the terminal at most; wider only if what is copied does not fit. If all columns
 * are too wide, first the column that fills is cut, then cells get short, then columns are left out.
 * @returns its text, and the titles of the columns that were left out
 */
export function tableOf<Row>(
  all: readonly Column<Row>[],
  rows: readonly Row[],
  width: number,
  title: (text: string) => string,
): { text: string; leftOut: string[] } {
  const columns = all.filter(({ optional, of }) => !optional || rows.some((row) => of(row)));
  const shown = fitting(columns, rows, width);
  const left = width - othersOf(shown);
  const table = new Table({
    style,
    shouldDisableColors: true,
    columns: shown.map(({ column }) => ({
      name: column.title,
      title: title(column.title),
      alignment: column.align ?? "left",
    })),
  });
  for (const [i, row] of rows.entries()) {
    const cells = shown.map(({ column: { title: name, fills, cut = shortened, color }, texts }) => {
      const text = texts[i] ?? "";
      const cell = fills ? cut(text, Math.max(LEAST, left)) : text;
      return [name, color && cell !== "" ? color(cell, row) : cell] as const;
    });
    table.addRow(Object.fromEntries(cells));
  }
  const lines = table
    .render()
    .split("\n")
    .filter((line) => line.trim() !== "");
  const titles = new Set(shown.map(({ column }) => column.title));
  return {
    text: lines.map((line) => `${line.replace(/^ /, "").trimEnd()}\n`).join(""),
    leftOut: columns.map(({ title: name }) => name).filter((name) => !titles.has(name)),
  };
}

/** The columns that fit into the width, with short cells if that is needed. */
function fitting<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width: number): Cells<Row>[] {
  const fits = (cells: readonly Cells<Row>[]) => {
    const filling = cells.find(({ column }) => column.fills);
    return othersOf(cells) + Math.min(filling?.width ?? -GAP, filling?.column.least ?? LEAST) <= width;
  };
  const cellsOf = (isShort: boolean) => columns.map((column) => measured(column, rows, isShort));
  const whole = cellsOf(false);
  if (fits(whole)) return whole;
  const shown = cellsOf(true);
  while (!fits(shown)) {
    const last = shown.findLastIndex(({ column }) => !column.copied && !column.fills);
    if (last < 0)
      return othersOf(shown) + LEAST <= width ? shown : shown.filter(({ column }) => !column.fills);
    shown.splice(last, 1);
  }
  return shown;
}

function measured<Row>(column: Column<Row>, rows: readonly Row[], isShort: boolean): Cells<Row> {
  const of = (isShort && column.short) || column.of;
  const texts = rows.map((row) => printable(shortened(String(of(row) ?? ""), MOST)));
  const width = texts.reduce((most, text) => Math.max(most, Array.from(text).length), column.title.length);
  return { column, texts, width };
}

/** The width of all columns but the one that fills, with their gaps. */
function othersOf<Row>(cells: readonly Cells<Row>[]): number {
  return cells.reduce((sum, { column, width }) => sum + (column.fills ? 0 : width + GAP), 0);
}
