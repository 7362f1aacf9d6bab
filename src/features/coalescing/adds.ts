import type { AddBatch, AddReply, Adds } from "../../kernel/store.ts";
import type { Coalescer, Kind } from "./coalescer.ts";
import { unlessAborted } from "../../kernel/unless-aborted.ts";

/** Adds single tasks that are enqueued together in one request. */
export function coalesceAdds<S extends Adds>(next: S, coalescer: Coalescer): S {
  const kind: Kind<AddBatch, AddReply> = {
    alone: (batch) => unlessAborted(batch.signal, () => next.add(batch)),
    together: ({ addTogether }) => addTogether(next),
  };
  const pool = `enqueue ${next.pool}`;
  return {
    ...next,
    add: (batch) => (batch.mayShare ? coalescer.call(kind, pool, batch, batch.signal) : next.add(batch)),
  };
}
