import pc from "picocolors";
import type { Io } from "../io.ts";
import { printableJson } from "./printable.ts";
import { type Column, tableOf } from "./table.ts";

/** Width if neither the terminal nor `COLUMNS` says. */
const WIDTH = 80;

/** What a command prints: tables for a person, JSON for a program. */
export class Output {
  /** Whether to print JSON. */
  readonly json: boolean;
  readonly colors: ReturnType<typeof pc.createColors>;
  readonly #io: Io;

  constructor(io: Io, { json = false }: { readonly json?: boolean | undefined }) {
    this.#io = io;
    this.json = json || !io.stdout.isTTY;
    const { NO_COLOR, TERM } = io.env;
    this.colors = pc.createColors(!this.json && !NO_COLOR && TERM !== "dumb");
  }

  /** How many characters of a line a person sees. */
  get width(): number {
    // A terminal that a program has made may have the width 0.
    const { env, stdout } = this.#io;
    return Math.max(0, Number(env["COLUMNS"])) || stdout.columns || WIDTH;
  }

  /** Prints a row a line of JSON, or a table; `empty` is for a table without rows. */
  rows<Row>(rows: readonly Row[], columns: readonly Column<Row>[], empty: string): void {
    if (this.json) for (const row of rows) this.line(row);
    else if (rows.length === 0) this.note(empty);
    else {
      const { text, leftOut } = tableOf(columns, rows, this.width, this.colors.dim);
      this.text(text);
      if (leftOut.length > 0) this.note(`No room for ${leftOut.join(", ")}; --json has everything.`);
    }
  }

  /** Prints a value as a line of JSON, or as the text for a person. */
  value(value: object, text: string): void {
    if (this.json) this.line(value);
    else this.text(`${text}\n`);
  }

  /** Prints a value as a line of JSON. */
  line(value: unknown): void {
    this.text(`${printableJson(value)}\n`);
  }

  text(text: string): void {
    this.#io.stdout.write(text);
  }

  /** Writes a note for a person. It goes to the standard error output, so pipes stay clean. */
  note(text: string): void {
    this.#io.stderr.write(`${text}\n`);
  }

  /** Shows a line that the next one replaces, such as progress. Nothing if no person reads it. */
  progress(text: string): void {
    if (this.#io.stderr.isTTY) this.#io.stderr.write(`\r\u001b[K${text}`);
  }

  /** Clears the screen for the next picture of a command that watches. */
  clear(): void {
    if (!this.json) this.text("\u001b[H\u001b[2J");
  }
}
