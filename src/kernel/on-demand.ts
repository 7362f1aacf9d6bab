/**
 * Code that is loaded when it is first needed. A call that can do without it must not overtake one that loads it: so it
 * takes the same way while {@link isLoading}.
 */
export class OnDemand<Code> {
  /** Undefined until it is loaded. Not a promise is kept, since requests of a Worker may not share one. */
  loaded: Code | undefined;
  readonly #import: () => Promise<Code>;
  #loads = 0;

  constructor(load: () => Promise<Code>) {
    this.#import = load;
  }

  get isLoading(): boolean {
    return this.#loads > 0;
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
