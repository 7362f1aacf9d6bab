import type { Child } from "./child.ts";
import { StackError } from "./stack-error.ts";

/** The parts of a stack that run. They are stopped in the reverse order of their start. */
export class Running {
  readonly #stops: (() => unknown)[] = [];
  #stopping: Promise<void> | undefined;
  /** Rejects when a part ends by itself. */
  readonly failed: Promise<never>;
  #fail: (error: Error) => void = () => {};

  constructor() {
    this.failed = new Promise<never>((_, reject) => (this.#fail = reject));
    // Prevents an unhandled rejection if nothing awaits it.
    this.failed.catch(() => {});
  }

  /** Adds a part by the function that stops it. A part added during {@link stop} is stopped as well. */
  add(stop: () => unknown): void {
    this.#stops.push(stop);
    if (this.#stopping) this.#stopping = this.#stopping.then(() => this.#stopAll());
  }

  /** Adds a process. If it ends before {@link stop}, that is a failure. */
  addChild(name: string, child: Child): void {
    this.add(() => child.stop());
    void child.ended.then(({ description }) => {
      if (!this.#stopping) this.#fail(new StackError(`${name} ${description}`));
    });
  }

  /**
   * Stops all parts, the last one first. A second call waits for the same stop. If a part fails to stop, it logs why,
   * and the process will exit with 1.
   */
  async stop(): Promise<void> {
    this.#stopping ??= this.#stopAll();
    await this.#stopping;
  }

  async #stopAll(): Promise<void> {
    for (let stop = this.#stops.pop(); stop; stop = this.#stops.pop()) {
      try {
        await stop();
      } catch (error) {
        // The other parts must still be stopped.
        process.exitCode = 1;
        console.error(error instanceof StackError ? `sluice: ${error.message}` : error);
      }
    }
  }
}

/** Resolves at the first signal to end this process. Later signals are ignored. */
export function endSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, resolve);
  });
}
