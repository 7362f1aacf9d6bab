import type { AddBatch, AddReply, Adds } from "../../kernel/store.ts";
import type { Coalescer, Kind } from "./coalescer.ts";
import { unlessAborted } from "./single-call.ts";

/** Adds single tasks that are enqueued together in one request. */
export function coalesceAdds<S extends Adds>(next: S, coalescer: Coalescer): S {
  const addAlone = async (batch: AddBatch) => {
    const reply = await next.add(batch);
    if (reply.after.length > 0) await Promise.all(reply.after);
    return reply;
  };
  const kind: Kind<AddBatch, AddReply> = {
    alone: (batch) => unlessAborted(batch.signal, () => addAlone(batch)),
    together: ({ addTogether }) => addTogether(next),
  };
  const pool = `enqueue ${next.pool}`;
  return {
    ...next,
    add: (batch) => (batch.shared ? coalescer.call(kind, pool, batch, batch.signal) : next.add(batch)),
  };
}
