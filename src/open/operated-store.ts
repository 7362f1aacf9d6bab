/** The layers of a queue for its operators, in their order. */
import { reportExpiredTasks } from "../features/dead-letters/index.ts";
import { CheckedWaker, wakeForAdds } from "../features/waking/index.ts";
import { plainAdds } from "../kernel/plain-adds.ts";
import type { Adds } from "../kernel/store.ts";
import { optionalFunction } from "../kernel/options/validation.ts";
import { discoverForAdds, type MaybeDivided, sharingLimits } from "../features/partitions/index.ts";
import type { OperatedQueue } from "../operate/operated-queue.ts";
import { type Opened, type QueueBaseOptions, valuesOf } from "./options.ts";

/** The store of a queue, for operators. */
export function operatedStore({ options, queue }: Opened<QueueBaseOptions>): Adds & MaybeDivided {
  let adds = sharingLimits(discoverForAdds(plainAdds(queue), options.partitions));
  if (options.wake) adds = wakeForAdds(adds, new CheckedWaker(options.wake));
  const onDeadLetter = optionalFunction(options.onDeadLetter, "onDeadLetter");
  return onDeadLetter ? reportExpiredTasks(adds, onDeadLetter) : adds;
}

/** A queue, for its operators. */
export const operatedQueue = (
  own: Opened<QueueBaseOptions>,
): OperatedQueue & { readonly store: Adds & MaybeDivided } => ({
  store: operatedStore(own),
  values: valuesOf(own),
});
