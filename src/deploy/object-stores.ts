import { messageOf } from "../errors.ts";
import { checkedOffload, type Offload, type OrphanPassOptions } from "../features/offload/types.ts";
import { objectsFailed, objectsRemoved } from "../log/lines.ts";
import type { Log } from "../log/logger.ts";
import type { Platform } from "./options.ts";

/** A queue that may declare its own object store. */
interface MayOffload {
  readonly options: { readonly offload?: Offload | undefined };
}

/** The object stores of a deployment's queues. */
export class ObjectStores {
  /** That of the deployment. */
  readonly #shared: Offload | undefined;
  readonly #replace: Platform["offload"];

  /** @throws {SluiceError} `invalid_argument` */
  constructor(shared: Offload | undefined, replace: Platform["offload"]) {
    this.#shared = checkedOffload(shared, "offload()");
    this.#replace = replace;
  }

  /** The object store of a queue: its own, or that of the deployment. */
  readonly of = (queue: MayOffload | undefined): Offload | undefined => {
    const offload = queue?.options.offload ?? this.#shared;
    return offload && (this.#replace?.(offload) ?? offload);
  };

  /**
   * Removes objects that no task needs, a page from each store. Logs a line for a store that failed or had such
   * objects. Never throws.
   * @param queues all that are declared
   */
  async removeOrphans(queues: readonly MayOffload[], options: OrphanPassOptions, log: Log): Promise<void> {
    for (const offload of new Set([this.of(undefined), ...queues.map(this.of)])) {
      if (!offload || performance.now() >= options.until) continue;
      const objects = await offload.removeOrphans(options).catch((error: unknown) => ({
        removed: 0,
        error: messageOf(error),
      }));
      if (objects.error !== undefined) log(objectsFailed(objects));
      else if (objects.removed > 0) log(objectsRemoved(objects));
    }
  }
}
