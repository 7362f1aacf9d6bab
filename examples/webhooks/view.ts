import { type Tenant, behaviourWords } from "./endpoints.ts";

/** The numbers that are shown while the example runs. */
export interface Picture {
  readonly seconds: number;
  readonly events: number;
  readonly enqueued: number;
  readonly pending: number;
  readonly delayed: number;
  readonly working: number;
  readonly deadLetters: number;
  /** Events that were delivered and settled. */
  readonly completed: number;
  /** Requests to receivers in the last seconds, per second. */
  readonly rate: number;
  readonly runs: number;
  readonly running: number;
  readonly killed: number;
  /** The accepted and refused requests of each receiver. */
  readonly receivers: readonly { tenant: Tenant; accepted: number; refused: number }[];
}

const number = (value: number) => value.toLocaleString("en-US");

export function bar(part: number, width: number): string {
  const full = Math.round(Math.min(1, Math.max(0, part)) * width);
  return "█".repeat(full) + "░".repeat(width - full);
}

/** The picture on one line, for a log. */
export function asLine(now: Picture): string {
  const { seconds, events, completed, deadLetters, pending, delayed, working, rate, runs } = now;
  const done = `${number(completed)} completed, ${number(deadLetters)} dead of ${number(events)}`;
  const counts = `pending ${number(pending)}, delayed ${number(delayed)}, working ${number(working)}`;
  return `${String(Math.round(seconds)).padStart(4)} s  ${done};  ${counts};  ${number(rate)} deliveries/s, ${runs} runs`;
}

/** The picture for a terminal of 80 columns. */
export function asLines(now: Picture): string[] {
  const { events, enqueued, completed, deadLetters, pending, delayed, working, runs, running, killed } = now;
  const done = completed + deadLetters;
  return [
    "",
    `  ${bar(done / events, 40)}  ${number(done)} of ${number(events)} events, ${Math.round(now.seconds)} s`,
    "",
    `  pending ${number(pending)}   delayed ${number(delayed)}   working ${number(working)}   ` +
      `completed ${number(completed)}   dead ${number(deadLetters)}`,
    `  enqueued ${number(enqueued)}   ${number(now.rate)} deliveries/s   ` +
      `${runs} runs of consumers, ${running} now, ${killed} killed`,
    "",
    ...now.receivers.map(({ tenant: { name, behaviour }, accepted, refused }) => {
      const counts = `${number(accepted).padStart(5)} accepted  ${number(refused).padStart(5)} refused`;
      return `  ${name.padEnd(18)}${counts}   ${behaviourWords[behaviour]}`;
    }),
    "",
  ];
}

/** Shows the picture: redrawn in place on a terminal, otherwise one line every five seconds. */
export class View {
  readonly #out: NodeJS.WriteStream;
  #drawn: string[] = [];
  #lastLine = 0;

  constructor(out: NodeJS.WriteStream = process.stdout) {
    this.#out = out;
  }

  show(now: Picture): void {
    if (this.#out.isTTY) return this.#draw(asLines(now));
    if (now.seconds - this.#lastLine < 5) return undefined;
    this.#lastLine = now.seconds;
    this.#out.write(`${asLine(now)}\n`);
    return undefined;
  }

  /** Prints a line that stays. */
  say(line: string): void {
    const picture = this.#drawn;
    this.#erase();
    this.#out.write(`${line}\n`);
    if (picture.length > 0) this.#draw(picture);
  }

  /** Stops drawing and leaves the last picture on the terminal. */
  end(): void {
    this.#drawn = [];
  }

  #draw(lines: string[]): void {
    this.#erase();
    const [columns] = this.#out.getWindowSize();
    // A wrapped line would break the count of lines to erase.
    this.#out.write(lines.map((line) => `${line.slice(0, columns - 1)}\n`).join(""));
    this.#drawn = lines;
  }

  #erase(): void {
    if (this.#drawn.length > 0) this.#out.write(`\u001B[${this.#drawn.length}A\u001B[J`);
    this.#drawn = [];
  }
}
