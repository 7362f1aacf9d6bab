/** How one request to a store is sent. */
export interface ObjectRequest {
  /** Aborts when the request has taken too long. A store that cannot abort may ignore it. */
  readonly signal?: AbortSignal | undefined;
}

/** A page of the objects in a store. */
export interface ObjectPage {
  readonly objects: readonly {
    readonly key: string;
    /** When the object was written, epoch ms, by the clock of the store. */
    readonly writtenAt: number;
  }[];
  /** The key after which the next page begins; null if this page is the last. */
  readonly next: string | null;
}

/**
 * A store of objects, which `offload` keeps payloads in. Reads see what was written before. A method that throws is
 * called again a few times, except after a `SluiceError`.
 */
export interface ObjectStore {
  /**
   * Writes an object, as a whole or not at all.
   * @param key of `A-Z a-z 0-9 _ . - ~` and `/`, at most 700 characters
   * @param options.sha256 of the bytes, for stores that check what they receive
   */
  put(
    key: string,
    bytes: Uint8Array,
    options: ObjectRequest & { readonly sha256: Uint8Array },
  ): Promise<void>;
  /** Reads an object. @returns null if there is none */
  get(key: string, options: ObjectRequest): Promise<Uint8Array | null>;
  /** Deletes up to 1,000 objects. Those that do not exist are ignored. */
  delete(keys: readonly string[], options: ObjectRequest): Promise<void>;
  /**
   * Lists up to 1,000 objects in the order of their keys.
   * @param prefix first part of the keys
   * @param after lists only keys after this one. @default from the first
   */
  list(prefix: string, after: string | undefined, options: ObjectRequest): Promise<ObjectPage>;
}
