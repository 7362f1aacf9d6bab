import * as v from "valibot";
import { FAULTS } from "../../kernel/errors/faults.ts";
import { count, described } from "./values.ts";

export const swept = v.object({
  queues: described(count, "Queues that were swept."),
  promoted: described(count, "Delayed tasks that became pending."),
  reclaimed: described(count, "Expired leases whose task became pending again."),
  rejected: described(count, "Expired leases whose task had no attempt left and was rejected."),
  expired: described(count, "Expired records that were deleted."),
  more: described(v.boolean(), "True if the budget ended before the work did. Call again."),
  scheduled: described(count, "Occurrences of schedules that were enqueued."),
  woken: described(count, "Queues whose consumer was woken."),
  failed: described(
    v.array(v.object({ queue: v.string(), code: v.string() })),
    "Queues whose sweep failed, and why. The others were swept.",
  ),
  objects: v.optional(
    described(
      v.object({
        checked: described(count, "Objects that were looked at: about a thousand in each sweep."),
        removed: described(count, "Objects that were removed, because no task needs them."),
        error: v.optional(described(v.string(), "Why the store could not be checked.")),
      }),
      "What was done in the object store of large payloads, if the server has one.",
    ),
  ),
});

const partition = described(
  v.optional(count),
  "The partition of the queue; absent for partition 0, and for a queue without partitions.",
);

export const deepSwept = v.object({
  queues: described(count, "Queues that were scanned completely."),
  entries: described(count, "Entries that were scanned. A task is scanned in each key that contains it."),
  faults: described(
    v.array(
      v.object({
        queue: v.string(),
        partition,
        fault: v.picklist(FAULTS),
        count,
        ids: described(
          v.array(v.string()),
          "Examples: ids of tasks, or names of groups, workers and control fields.",
        ),
      }),
    ),
    "What was found and repaired; empty if everything is valid. `record_newer` is not repaired.",
  ),
  failed: described(
    v.array(v.object({ queue: v.string(), partition, code: v.string() })),
    "Queues that could not be scanned completely, and why.",
  ),
  cursor: described(v.nullable(v.string()), "Where to continue; null if everything was scanned."),
});
