/** The layers of a queue for its producers, in their order. */
import { coalesceAdds, Coalescer } from "../features/coalescing/index.ts";
import { wakeForAdds, CheckedWaker } from "../features/waking/index.ts";
import { plainAdds } from "../kernel/plain-adds.ts";
import type { Adds } from "../kernel/store.ts";
import { discoverForAdds } from "../features/partitions/index.ts";
import type { Opened, ProducerOptions, QueueBaseOptions } from "./options.ts";

type AddsOptions = QueueBaseOptions & Pick<ProducerOptions, "coalesce">;

/** The store of a queue, for producers. */
export function addsOf({ options, queue }: Opened<AddsOptions>): Adds {
  let adds: Adds = discoverForAdds(plainAdds(queue), options.partitions);
  if (options.offload) adds = options.offload.layer(adds);
  if (options.wake) adds = wakeForAdds(adds, new CheckedWaker(options.wake));
  return coalesceAdds(adds, new Coalescer(options.coalesce, queue.transport));
}
