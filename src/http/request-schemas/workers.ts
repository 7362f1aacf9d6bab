import * as v from "valibot";
import { fields, list } from "../request/validate.ts";
import { positiveDuration } from "./durations.ts";
import { bounds, cursor, name, receipt, size, integer } from "./values.ts";

const nodeForm = "must be a string of at most 128 characters";

/** One process that consumes tasks. */
export const worker = fields({
  name: name,
  incarnation: v.exactOptional(name),
  node: v.exactOptional(v.pipe(v.string(nodeForm), v.maxLength(128, nodeForm))),
  pid: v.exactOptional(integer(0, Number.MAX_SAFE_INTEGER)),
  silentAfter: v.exactOptional(positiveDuration),
  goneAfter: v.exactOptional(positiveDuration),
});

/** The query of the list of workers. */
export const workersQuery = fields({
  cursor: v.exactOptional(cursor),
  size: v.exactOptional(size),
});

/** The worker in the path. */
export const nameInPath = fields({ name });

export const heartbeat = fields({
  worker: worker,
  lease: v.exactOptional(positiveDuration),
  receipts: v.exactOptional(list(receipt, bounds.receipts, `must have at most ${bounds.receipts} receipts`)),
});

/** The query of the removal of a worker from the list. */
export const forgetQuery = fields({ incarnation: v.exactOptional(name) });

export const fail = fields({
  incarnation: v.exactOptional(v.nullable(name)),
  limit: v.exactOptional(integer(1, bounds.tasks)),
});
