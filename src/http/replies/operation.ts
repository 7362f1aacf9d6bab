import * as v from "valibot";
import { FAULTS } from "../../queue/core/faults.ts";
import { count, described } from "./values.ts";

export const swept = v.object({
  queues: described(count, "Queues that were swept."),
  promoted: described(count, "Delayed tasks that became pending."),
  reclaimed: described(count, "Expired leases whose task became pending again."),
  rejected: described(count, "Expired leases whose task had no attempt left."),
  expired: described(count, "Records whose time was over."),
  more: described(v.boolean(), "Whether the budget ended the sweep with work left: call again."),
  scheduled: described(count, "Occurrences of schedules that were enqueued."),
  woken: described(count, "Queues of which a consumer was woken."),
  failed: described(
    v.array(v.object({ queue: v.string(), code: v.string() })),
    "Queues whose sweep failed, and why; the others were swept.",
  ),
});

export const deepSwept = v.object({
  queues: described(count, "Queues that were looked at to their end."),
  entries: described(count, "Entries that were looked at; a task is looked at wherever it stands."),
  faults: described(
    v.array(
      v.object({
        queue: v.string(),
        fault: v.picklist(FAULTS),
        count,
        ids: described(
          v.array(v.string()),
          "Some of them: of tasks, or names of groups, workers and control fields.",
        ),
      }),
    ),
    "What was found and repaired; empty where everything is sound. `record_newer` is left as it is.",
  ),
  failed: described(
    v.array(v.object({ queue: v.string(), code: v.string() })),
    "Queues that could not be looked at, or not to their end, and why.",
  ),
  cursor: described(v.nullable(v.string()), "Where to go on; null where all has been looked at."),
});

export const health = v.object({ status: v.literal("ok") });

export const problem = v.object({
  type: v.string(),
  title: v.string(),
  status: count,
  code: described(v.string(), "Stable; what a program should look at."),
  detail: v.string(),
  errors: v.exactOptional(
    v.array(v.object({ path: described(v.string(), "Such as `tasks[3].delay`."), message: v.string() })),
  ),
  instance: v.exactOptional(described(v.string(), "Names this occurrence in the server's log.")),
});
