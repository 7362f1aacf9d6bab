/** The counts since the gateway started or since the last reset. */
export interface Usage {
  /** Commands as Upstash bills them: the sum of `byCommand`. */
  readonly commands: number;
  /** HTTP requests with a valid token, including those that a fault hit. */
  readonly requests: number;
  /** Bytes of request bodies. */
  readonly bytesIn: number;
  /** Bytes of response bodies. */
  readonly bytesOut: number;
  /** Billed commands by name, in capitals, such as `HGET` or `SCRIPT|LOAD`. */
  readonly byCommand: Readonly<Record<string, number>>;
  /** What the commands cost on Upstash in US dollars; see {@link dollars}. */
  readonly dollars: number;
}

const dollarsPerCommand = 0.2 / 100_000;

/** The cost of billed commands on Upstash in US dollars: 0.20 for 100,000, in one region. */
export const dollars = (commands: number): number => commands * dollarsPerCommand;

/** Commands that Upstash does not bill. It does not bill blocking commands either. */
const unbilled = new Set(["AUTH", "COMMAND", "INFO", "PING", "QUIT"]);
const blocking = new Set([
  "BLMOVE",
  "BLMPOP",
  "BLPOP",
  "BRPOP",
  "BRPOPLPUSH",
  "BZMPOP",
  "BZPOPMAX",
  "BZPOPMIN",
]);

export class Meter {
  #byCommand = new Map<string, number>();
  #requests = 0;
  #bytesIn = 0;
  #bytesOut = 0;

  /** Counts a command that Redis has run, even if it failed. */
  command(name: string, count = 1): void {
    const upper = name.toUpperCase();
    const parent = upper.split("|", 1)[0] as string;
    if (unbilled.has(parent) || blocking.has(parent)) return;
    this.#byCommand.set(upper, (this.#byCommand.get(upper) ?? 0) + count);
  }

  request(bytesIn: number): void {
    this.#requests += 1;
    this.#bytesIn += bytesIn;
  }

  response(bytesOut: number): void {
    this.#bytesOut += bytesOut;
  }

  read(): Usage {
    const byCommand = Object.fromEntries([...this.#byCommand].toSorted(([a], [b]) => (a < b ? -1 : 1)));
    const commands = Object.values(byCommand).reduce((sum, count) => sum + count, 0);
    return {
      commands,
      requests: this.#requests,
      bytesIn: this.#bytesIn,
      bytesOut: this.#bytesOut,
      byCommand,
      dollars: dollars(commands),
    };
  }

  reset(): void {
    this.#byCommand = new Map();
    this.#requests = this.#bytesIn = this.#bytesOut = 0;
  }
}
