import { Table } from "console-table-printer";
import { linesOf, printable, shortened } from "./printable.ts";

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
  /** Of the column that fills: if a cell has no room, all are below their rows, in lines of their own. */
  readonly below?: boolean;
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

/** Before the lines below a row, and the most of them. */
const INDENT = "  ";
const MOST_LINES = 3;

/** The most characters of a cell: a payload may have a million. */
const MOST = 1_000;

/**
 * A table of plain columns, as wide as the terminal at most; wider only if what is copied does not fit. If all columns
 * are too wide, first the column that fills is cut or goes below, then cells get short, then columns are left out.
 * @returns its text, and the titles of the columns that were left out
 */
export function tableOf<Row>(
  all: readonly Column<Row>[],
  rows: readonly Row[],
  width: number,
  title: (text: string) => string,
): { text: string; leftOut: string[] } {
  const columns = all.filter(({ optional, of }) => !optional || rows.some((row) => of(row)));
  const below = columnBelow(columns, rows, width);
  const shown = fitting(
    columns.filter((column) => column !== below?.column),
    rows,
    width,
  );
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
    const cells = shown.map(({ column: { title: name, fills, color }, texts }) => {
      const text = texts[i] ?? "";
      const cell = fills ? shortened(text, Math.max(LEAST, left)) : text;
      return [name, color && cell !== "" ? color(cell, row) : cell] as const;
    });
    table.addRow(Object.fromEntries(cells));
  }
  const lines = table
    .render()
    .split("\n")
    .filter((line) => line.trim() !== "");
  const [head = "", ...rest] = lines.map((line) => line.replace(/^ /, "").trimEnd());
  const under = (i: number) => {
    const row = rows[i];
    if (!below || !row) return [];
    const { column, texts } = below;
    const cell = linesOf(texts[i] ?? "", Math.max(LEAST, width - INDENT.length), MOST_LINES);
    return cell.map((line) => INDENT + (column.color?.(line, row) ?? line));
  };
  const titles = new Set([...shown, ...(below ? [below] : [])].map(({ column }) => column.title));
  return {
    text: [head, ...rest.flatMap((line, i) => [line, ...under(i)])].map((line) => `${line}\n`).join(""),
    leftOut: columns.map(({ title: name }) => name).filter((name) => !titles.has(name)),
  };
}

/** The column whose cells are below their rows; undefined if they have room beside the others, or belong there. */
function columnBelow<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width: number,
): Cells<Row> | undefined {
  const cells = columns.map((column) => measured(column, rows, true));
  const filling = cells.find(({ column }) => column.below);
  return filling && othersOf(cells) + filling.width > width ? filling : undefined;
}

/** The columns that fit into the width, with short cells if that is needed. */
function fitting<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width: number): Cells<Row>[] {
  const fits = (cells: readonly Cells<Row>[]) => {
    const filling = cells.find(({ column }) => column.fills);
    const least = filling?.column.below ? filling.width : (filling?.column.least ?? LEAST);
    return othersOf(cells) + Math.min(filling?.width ?? -GAP, least) <= width;
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
