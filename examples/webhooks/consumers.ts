import { type Program, startProgram } from "./programs.ts";

/** After this many failures in a row the example stops. */
const mostFailures = 3;

export interface ConsumerRun extends Program {
  /** Such as `consumer-2.5`: the fifth run in the second slot. */
  readonly name: string;
}

/** Keeps a number of consumers running, as a platform would: when a run ends, the next one starts. */
export class Consumers {
  readonly #settings: Readonly<Record<string, string>>;
  readonly #running = new Set<ConsumerRun>();
  readonly #killed = new Set<ConsumerRun>();
  #slots: Promise<unknown> = Promise.resolve();
  #stopped = false;
  #failures = 0;
  #started = 0;

  /** @param settings environment variables of each run, in addition to its name */
  constructor(settings: Readonly<Record<string, string>>) {
    this.#settings = settings;
  }

  /** @returns a promise that rejects if several runs in a row fail */
  async start(count: number): Promise<void> {
    const slots = Array.from({ length: count }, (_, i) => this.#keepRunning(i + 1));
    this.#slots = Promise.allSettled(slots);
    await Promise.all(slots);
  }

  get running(): readonly ConsumerRun[] {
    return [...this.#running];
  }

  /** The number of runs so far. */
  get started(): number {
    return this.#started;
  }

  get killed(): number {
    return this.#killed.size;
  }

  /** Kills a run with SIGKILL. */
  kill(run: ConsumerRun): void {
    this.#killed.add(run);
    run.process.kill("SIGKILL");
  }

  /** Starts no more runs, and waits for the running ones. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#slots;
  }

  async #keepRunning(slot: number): Promise<void> {
    for (let number = 1; !this.#stopped; number++) {
      const name = `consumer-${slot}.${number}`;
      const run: ConsumerRun = {
        name,
        ...startProgram("consumer.ts", { ...this.#settings, CONSUMER_NAME: name }),
      };
      this.#started += 1;
      this.#running.add(run);
      const { status, complaint } = await run.ended;
      this.#running.delete(run);
      if (this.#killed.has(run)) continue;
      this.#failures = status === 0 ? 0 : this.#failures + 1;
      if (this.#failures >= mostFailures) throw new Error(`${name} failed:\n${complaint}`);
    }
  }
}
