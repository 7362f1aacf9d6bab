/** Draws a flow as text for a terminal. */
import { type Cells, cellsOf } from "./cells.ts";
import type { DrawnFlow, DrawOptions } from "./drawn-flow.ts";
import { railsOf } from "./rails.ts";
import { rowsOf } from "./rows.ts";

const GAP = "  ";

/**
 * Draws a flow, layer by layer, with a line for each task and inner flow: what it waits for, its ref, queue and state. A
 * wide layer has one line for many. If too many lines would be side by side, each task names what it waits for.
 * @returns lines, each with a line break; the same for the same flow
 */
export function drawFlow(
  flow: DrawnFlow,
  { width = Infinity, ascii = false, color }: DrawOptions = {},
): string {
  const rows = rowsOf(flow);
  const rails = railsOf(rows, ascii);
  const dots = ascii ? "..." : "…";
  const lines = rows.map((row) => cellsOf(flow, row, dots, rails === undefined));
  const column = (of: (cells: Cells) => string) => {
    const most = lines.reduce((max, cells) => Math.max(max, of(cells).length), 0);
    return (cells: Cells) => of(cells).padEnd(most) + GAP;
  };
  const statesOf = ({ states }: Cells) => states.map(({ text }) => text).join(", ");
  const [refCell, queueCell, statesCell] = [
    column(({ ref }) => ref),
    column(({ queue }) => queue),
    column(statesOf),
  ];
  const drawn = lines.map((cells, i) => {
    const front = `${rails?.[i] ?? ""}${cells.mark} ${refCell(cells)}${queueCell(cells)}`;
    const states = statesCell(cells);
    const colored = cells.states.map(({ state, text }) => color?.(text, state) ?? text).join(", ");
    const left = width - front.length - states.length;
    const note =
      cells.note.length > left ? cells.note.slice(0, Math.max(0, left - dots.length)) + dots : cells.note;
    return `${front}${colored}${states.slice(statesOf(cells).length)}${left > dots.length ? note : ""}`.trimEnd();
  });
  return drawn.map((line) => `${line}\n`).join("");
}
