import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readLua } from "../../tools/lua/files.ts";
import { type Block, marked } from "./blocks.ts";

interface Row {
  lines: Set<number>;
  missedLines: Set<number>;
  blocks: number;
  missedBlocks: number;
}

/** Which lines and blocks of the scripts ran, by the notes in that folder: a table, as text. */
export function reportScripts(folder: string): string {
  const { blocks } = marked(readLua());
  const ran = new Set(
    globSync("*", { cwd: folder }).flatMap((file) => readFileSync(join(folder, file), "utf8").split("\n")),
  );
  const rows = new Map<string, Row>();
  for (const [number, block] of blocks.entries()) addTo(rows, block, ran.has(String(number)));
  const all = [...rows.values()];
  const sum = (count: (row: Row) => number) => all.reduce((total, row) => total + count(row), 0);
  const table = [...rows].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([file, row]) => line(file, row));
  const total = share(
    sum(({ lines, missedLines }) => lines.size - missedLines.size),
    sum(({ lines }) => lines.size),
  );
  const branches = share(
    sum((row) => row.blocks - row.missedBlocks),
    sum((row) => row.blocks),
  );
  return [...table, `all scripts: lines ${total}, branches ${branches}`].join("\n");
}

function addTo(rows: Map<string, Row>, block: Block, hasRun: boolean): void {
  const { file } = block;
  const row = rows.get(file) ?? { lines: new Set(), missedLines: new Set(), blocks: 0, missedBlocks: 0 };
  rows.set(file, row);
  row.blocks++;
  if (!hasRun) row.missedBlocks++;
  for (const line of block.lines) {
    if (block.isImplicit) continue;
    row.lines.add(line);
    if (!hasRun) row.missedLines.add(line);
  }
}

function line(file: string, { lines, missedLines, blocks, missedBlocks }: Row): string {
  const missed = [...missedLines].toSorted((a, b) => a - b).join(", ");
  const notRun = missed && `; not run: ${missed}`;
  return `  ${file}: lines ${share(lines.size - missedLines.size, lines.size)}, branches ${share(blocks - missedBlocks, blocks)}${notRun}`;
}

const share = (part: number, whole: number) =>
  `${part} of ${whole} (${((100 * part) / Math.max(1, whole)).toFixed(2)} %)`;
