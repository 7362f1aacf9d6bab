import * as v from "valibot";
import { count, described } from "./values.ts";

export const queuePartitions = v.object({
  queue: v.string(),
  count: described(
    count,
    "How many partitions new tasks go to, or will go to once the change of the number has ended.",
  ),
  changing: described(
    v.boolean(),
    "Whether slots are changing hands. Then a change has stopped on the way, and the next sweep completes it.",
  ),
  partitions: described(
    v.array(
      v.object({
        partition: described(count, "Its number, from 0."),
        slots: described(
          count,
          "How many of the 256 slots it owns, which is its part of the new tasks; 0 if it takes none, or none yet.",
        ),
        pending: count,
        delayed: count,
        blocked: count,
        working: count,
        rejected: described(count, "Dead letters."),
      }),
    ),
    "All that may have tasks; partition 0 alone if the queue has no partitions.",
  ),
});
