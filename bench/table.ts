/** Prints a Markdown table. All columns except the first hold numbers and are aligned right. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join(" | ")} |`;
  console.log(line(head));
  console.log(`|${widths.map((width, i) => "-".repeat(width + 1) + (i === 0 ? "-" : ":")).join("|")}|`);
  for (const row of rows) console.log(line(row));
}
