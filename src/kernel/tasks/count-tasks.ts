import { type QueueCounts, sumOfCounts } from "./counts.ts";
import type { RequestOptions } from "../options/types.ts";
import { countScript } from "../scripts/count-script.ts";
import { onAll } from "../on-all.ts";
import type { Store } from "../store.ts";

/** Counts the tasks in each state: see `Queue.counts`. */
export async function countTasks(store: Store, options: RequestOptions): Promise<QueueCounts> {
  const found = await onAll(store, (shard) => shard.call(countScript, { overview: "" }), options);
  return { queue: store.queue.name, ...sumOfCounts(Array.from(found.values(), ({ counts }) => counts)) };
}
