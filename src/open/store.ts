/** The layers of a queue, in their order. */
import { Coalescer, coalesce } from "../features/coalescing/index.ts";
import { reportDeadLetters } from "../features/dead-letters/index.ts";
import { wake, CheckedWaker } from "../features/waking/index.ts";
import { plainStore } from "../kernel/plain-store.ts";
import type { Store } from "../kernel/store.ts";
import { optionalFunction } from "../kernel/options/validation.ts";
import { discover } from "../features/partitions/index.ts";
import type { Opened, QueueBaseOptions, QueueOptions } from "./options.ts";

type StoreOptions = QueueBaseOptions & Pick<QueueOptions, "coalesce" | "layer">;

/** The store of a queue. */
export function storeOf(opened: Opened<StoreOptions>): Store {
  const { options, queue } = opened;
  const plain = plainStore(queue);
  let store: Store = discover(options.layer?.(plain) ?? plain, options.partitions);
  if (options.offload) store = options.offload.layer(store);
  if (options.wake) store = wake(store, new CheckedWaker(options.wake));
  store = coalesce(store, new Coalescer(options.coalesce, queue.transport));
  const onDeadLetter = optionalFunction(options.onDeadLetter, "onDeadLetter");
  return onDeadLetter ? reportDeadLetters(store, onDeadLetter) : store;
}
