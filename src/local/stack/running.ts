import type { Child } from "./child.ts";
import { StackError } from "./stack-error.ts";

/** What has been started so far, in order, so that it can be stopped in reverse. */
export class Running {
  readonly #stops: (() => unknown)[] = [];
  #stopping: Promise<void> | undefined;
  /** Rejects when a part ends that nobody stopped. */
  readonly failed: Promise<never>;
  #fail: (error: Error) => void = () => {};

  constructor() {
    this.failed = new Promise<never>((_, reject) => (this.#fail = reject));
    // Whoever waits for it sees the failure all the same; nobody has to.
    this.failed.catch(() => {});
  }

  /** Adds a part by what stops it. One that starts while the others stop is stopped at once. */
  add(stop: () => unknown): void {
    this.#stops.push(stop);
    if (this.#stopping) this.#stopping = this.#stopping.then(() => this.#stopAll());
  }

  /** Adds a process, whose end before {@link stop} is a failure. */
  addChild(name: string, child: Child): void {
    this.add(() => child.stop());
    void child.ended.then(({ words }) => {
      if (!this.#stopping) this.#fail(new StackError(`${name} ${words}`));
    });
  }

  /** Stops all parts, the last one first. Calling it again waits for the same stop. */
  async stop(): Promise<void> {
    this.#stopping ??= this.#stopAll();
    await this.#stopping;
  }

  async #stopAll(): Promise<void> {
    for (let stop = this.#stops.pop(); stop; stop = this.#stops.pop()) {
      try {
        await stop();
      } catch (error) {
        // The others have to end all the same.
        console.error(error);
      }
    }
  }
}

/** Resolves when a signal asks this process to end; further ones change nothing. */
export function endSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, resolve);
  });
}
