import { Table } from "console-table-printer";
import { printable, shortened } from "./printable.ts";

export interface Column<Row> {
  readonly title: string;
  readonly of: (row: Row) => string | number | null | undefined;
  readonly align?: "left" | "right";
  /** Colours a cell, after its width is known. */
  readonly color?: (cell: string, row: Row) => string;
  /** Takes the width that the others leave; only one column may. */
  readonly fills?: boolean;
  /** Left out if it is empty in every row. */
  readonly optional?: boolean;
}

const none = { left: "", mid: "", right: "", other: "" };
const style = { headerTop: none, headerBottom: none, tableBottom: none, rowSeparator: none, vertical: "" };

/** The least width of the column that fills. */
const LEAST = 10;

/** The most characters of a cell: a payload may have a million. */
const MOST = 1_000;

/** A table of plain columns, as wide as the terminal at most. */
export function tableOf<Row>(
  all: readonly Column<Row>[],
  rows: readonly Row[],
  width: number,
  title: (text: string) => string,
): string {
  const columns = all.filter(({ optional, of }) => !optional || rows.some((row) => of(row)));
  const texts = rows.map((row) => columns.map(({ of }) => printable(shortened(String(of(row) ?? ""), MOST))));
  const widths = columns.map(({ title: name }, at) =>
    texts.reduce((most, cells) => Math.max(most, Array.from(cells[at] ?? "").length), name.length),
  );
  const others = columns.reduce((sum, { fills }, at) => sum + (fills ? 0 : (widths[at] ?? 0) + 2), 0);
  const table = new Table({
    style,
    shouldDisableColors: true,
    columns: columns.map(({ title: name, align = "left" }, at) => ({
      name: String(at),
      title: title(name),
      alignment: align,
    })),
  });
  for (const [i, row] of rows.entries()) {
    const cells = columns.map(({ color, fills }, at) => {
      const text = texts[i]?.[at] ?? "";
      const cell = fills ? shortened(text, Math.max(LEAST, width - others - 2)) : text;
      return [String(at), color && cell !== "" ? color(cell, row) : cell] as const;
    });
    table.addRow(Object.fromEntries(cells));
  }
  const lines = table
    .render()
    .split("\n")
    .filter((line) => line.trim() !== "");
  return lines.map((line) => `${line.replace(/^ /, "").trimEnd()}\n`).join("");
}
