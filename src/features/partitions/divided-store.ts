import type { Store } from "../../kernel/store.ts";
import type { Divided } from "./divided.ts";
import { partitionedStore } from "./partitioned-store.ts";
import { Partitions } from "./partitions.ts";

/** A queue with partitions. */
export function dividedStore(plain: Store, wanted: number | undefined): Divided<Store> {
  const partitions = new Partitions(plain.queue, wanted);
  return { partitions, store: partitionedStore(plain, partitions) };
}
