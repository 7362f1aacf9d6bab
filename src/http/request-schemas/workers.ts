import * as v from "valibot";
import { fields, list } from "../request/validate.ts";
import { positiveDuration } from "./durations.ts";
import { bounds, cursor, described, name, receipt, size, whole } from "./values.ts";

const nodeForm = "must be a string of at most 128 characters";

/** One process that consumes tasks. */
export const worker = fields({
  name: described(name, "The name of the worker."),
  incarnation: v.exactOptional(
    described(name, "Identifies this process among those with the same name. Use a new one for each start."),
  ),
  node: v.exactOptional(
    v.pipe(
      v.string(nodeForm),
      v.maxLength(128, nodeForm),
      v.description("The machine that it runs on, for display."),
    ),
  ),
  pid: v.exactOptional(whole(0, Number.MAX_SAFE_INTEGER, "Its process id on that machine.")),
  silentAfter: v.exactOptional(
    described(
      positiveDuration,
      "How long without a pull or heartbeat until a sweep takes its tasks back. Default: never; its leases expire one by one.",
    ),
  ),
});

/** The query of the list of workers. */
export const workersQuery = fields({
  cursor: v.exactOptional(cursor),
  size: v.exactOptional(size("About this many workers")),
});

/** The worker in the path. */
export const nameInPath = fields({ name });

export const heartbeat = fields({
  worker: described(worker, "As in pull. It replaces what the worker last sent."),
  lease: v.exactOptional(
    described(
      positiveDuration,
      "The new lease of all its tasks, from now. Default: for each task the lease with which it was pulled.",
    ),
  ),
  receipts: v.exactOptional(
    described(
      list(receipt, bounds.receipts, `must have at most ${bounds.receipts} receipts`),
      "Receipts of the leases to extend. A lease that was pulled without a worker is extended by any worker with its receipt. A lease of another worker or incarnation is not extended, and its id is in `lost`. Default: all leases that the worker pulled, including those of a pull whose response was lost.",
    ),
  ),
});

export const fail = fields({
  incarnation: v.exactOptional(
    described(
      v.nullable(name),
      "Fails only this incarnation; null is the one without an incarnation. Default: all with this name.",
    ),
  ),
  limit: v.exactOptional(
    whole(1, bounds.tasks, "The most tasks that are taken back in this call. Default 1,000."),
  ),
});
