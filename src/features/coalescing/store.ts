import type { SettleBatch, SettleReply, Store, Taken, TakeRequest } from "../../kernel/store.ts";
import { coalesceAdds } from "./adds.ts";
import type { Coalescer, Kind } from "./coalescer.ts";
import { isPromise } from "../../kernel/maybe-promise.ts";
import { unlessAborted } from "../../kernel/unless-aborted.ts";

/** Sends single calls that are made together in one request. */
export function coalesce(store: Store, coalescer: Coalescer): Store {
  const next = coalesceAdds(store, coalescer);
  const settles: Kind<SettleBatch, SettleReply> = {
    alone: (batch) => unlessAborted(batch.signal, () => next.settle(batch)),
    together: ({ settleTogether }) => settleTogether(next),
  };
  const takes: Kind<TakeRequest, Taken> = {
    alone: (request) => next.take(request),
    together: ({ takeTogether }) => takeTogether(next),
  };
  return {
    ...next,
    settle(batch) {
      if (!batch.mayShare) return next.settle(batch);
      // An error is thrown by who sends them, which is not at once.
      if (isPromise(batch.items)) batch.items.catch(() => {});
      return coalescer.call(settles, `settle ${next.pool}`, batch, batch.signal);
    },
    take(request) {
      if (!request.mayShare) return next.take(request);
      const { lease, maxBytes, worker, info, requests } = request;
      const pool = `dequeue ${next.pool} ${lease} ${maxBytes} ${worker} ${info}`;
      return coalescer.call(takes, pool, request, requests.options.signal);
    },
  };
}
