import * as v from "valibot";
import { fields, list } from "../request/validate.ts";
import { positiveDuration } from "./durations.ts";
import { bounds, cursor, described, name, receipt, size, whole } from "./values.ts";

const nodeWords = "must be a text of at most 128 characters";

/** One process that works. */
export const worker = fields({
  name: described(name, "What the worker is called."),
  incarnation: v.exactOptional(
    described(name, "Tells this process from its predecessors of the same name. A new one for each start."),
  ),
  node: v.exactOptional(
    v.pipe(
      v.string(nodeWords),
      v.maxLength(128, nodeWords),
      v.description("The machine, for people to read."),
    ),
  ),
  pid: v.exactOptional(whole(0, Number.MAX_SAFE_INTEGER, "The process on it.")),
  silentAfter: v.exactOptional(
    described(
      positiveDuration,
      "After so long without a pull or heartbeat a sweep gives its tasks back. Default: never; its leases end one by one.",
    ),
  ),
});

/** Of the list of workers. */
export const workersQuery = fields({
  cursor: v.exactOptional(cursor),
  size: v.exactOptional(size("About this many workers")),
});

/** The name of a worker as the path has it. */
export const nameInPath = fields({ name });

export const heartbeat = fields({
  worker: described(worker, "As in pull. What it tells of itself replaces what it told before."),
  lease: v.exactOptional(
    described(
      positiveDuration,
      "Of all its tasks, from now on. Default: what each task's lease was when it was pulled.",
    ),
  ),
  receipts: v.exactOptional(
    described(
      list(receipt, bounds.receipts, `must have at most ${bounds.receipts} receipts`),
      "Receipts of the leases to extend. A lease that was pulled without a worker is extended by any worker with its receipt. A lease of another worker or incarnation is not extended; its id is in `lost`. Default: all leases that the worker pulled, also those of a pull whose answer was lost.",
    ),
  ),
});

export const fail = fields({
  incarnation: v.exactOptional(
    described(
      v.nullable(name),
      "Fails only this incarnation; null: the one that told none. Default: all of that name.",
    ),
  ),
  limit: v.exactOptional(
    whole(1, 1_000, "At most this many tasks are taken from it in this call. Default 1,000."),
  ),
});
