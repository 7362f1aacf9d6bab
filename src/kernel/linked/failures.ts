import { SluiceError } from "../../errors.ts";

/** Collects what fails, for work whose other parts go on. */
export class Failures {
  #first: SluiceError | undefined;

  /** @returns what the step returns; undefined if it fails */
  async of<T>(step: () => T | Promise<T>): Promise<T | undefined> {
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof SluiceError) || error.code === "aborted") throw error;
      this.#first ??= error;
      return undefined;
    }
  }

  throwFirst(): void {
    if (this.#first) throw this.#first;
  }
}
