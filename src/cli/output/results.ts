import type { Output } from "./output.ts";

/** What became of one of the tasks or keys that a command was given. */
interface Result {
  readonly ok: boolean;
  readonly result: string;
}

/** Prints what became of each of them. @param title of their names */
export function printResults<Row extends Result>(
  out: Output,
  results: readonly Row[],
  title: "ID" | "KEY",
  nameOf: (row: Row) => string,
): void {
  const color = (cell: string, { ok }: Row) => (ok ? cell : out.colors.red(cell));
  const columns = [
    { title, copied: true, of: nameOf },
    { title: "RESULT", of: ({ result }: Row) => result, color },
  ];
  out.rows(results, columns, "");
}
