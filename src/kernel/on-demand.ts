import type { MaybePromise } from "./maybe-promise.ts";

/**
 * Code that is loaded when it is first needed. While {@link isLoading}, a call that can do without it waits for it too,
 * so as not to overtake the call that loads it.
 */
export class OnDemand<Code> {
  /** Undefined until it is loaded. The promise is not kept, because requests of a Worker may not share one. */
  loaded: Code | undefined;
  readonly #import: () => Promise<Code>;
  #loads = 0;

  constructor(load: () => Promise<Code>) {
    this.#import = load;
  }

  get isLoading(): boolean {
    return this.#loads > 0;
  }

  /** Runs with the code: at once if it is loaded. */
  use<Result>(run: (code: Code) => MaybePromise<Result>): MaybePromise<Result> {
    return this.loaded ? run(this.loaded) : this.load().then(run);
  }

  async load(): Promise<Code> {
    this.#loads++;
    try {
      return (this.loaded = await this.#import());
    } finally {
      this.#loads--;
    }
  }
}
