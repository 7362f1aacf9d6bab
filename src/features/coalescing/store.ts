import { MAX_BATCH } from "../../kernel/options/limits.ts";
import { newToken } from "../../kernel/names/ids.ts";
import { writeReceipt } from "../../kernel/names/receipt.ts";
import type { Settled } from "../../kernel/options/types.ts";
import type { SettlementArguments, SettleBatch, Store, Taken, TakeRequest } from "../../kernel/store.ts";
import { coalesceAdds } from "./adds.ts";
import type { Coalescer, Shareable, SharedCall } from "./coalescer.ts";

/**
 * Most single takes that share a request. The script remembers larger batches in fewer slots, which are overwritten
 * sooner.
 */
const MAX_SHARED_TAKES = 100;

/** A settle of one task, which can share a request. */
type SingleSettle = Omit<SettleBatch, "items"> & { readonly items: readonly SettlementArguments[] };

/** Sends single calls that are made together in one request. */
export function coalesce(store: Store, coalescer: Coalescer): Store {
  const next = coalesceAdds(store, coalescer);
  const settles: Shareable<SingleSettle, Settled> = {
    most: MAX_BATCH,
    text: ({ items }) => items[0]?.text ?? "",
    send: (calls, signal) => settleTogether(next, calls, signal),
  };
  const takes: Shareable<TakeRequest, Taken> = {
    most: MAX_SHARED_TAKES,
    send: (calls, signal) => takeTogether(next, calls, signal),
  };
  return {
    ...next,
    async settle(batch) {
      if (!batch.shared) return next.settle(batch);
      return [await coalescer.call(settles, `settle ${next.pool}`, single(batch), batch.signal)];
    },
    take(request) {
      if (!request.shared) return next.take(request);
      const { lease, maxBytes, worker, info, requests } = request;
      const pool = `dequeue ${next.pool} ${lease} ${maxBytes} ${worker} ${info}`;
      return coalescer.call(takes, pool, Promise.resolve(request), requests.options.signal);
    },
  };
}

async function single(batch: SettleBatch): Promise<SingleSettle> {
  return { ...batch, items: await batch.items };
}

async function settleTogether(
  next: Store,
  calls: readonly SharedCall<SingleSettle, Settled>[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const all = calls.map(({ item }) => item);
  const settled = await next.settle({
    settlements: all.flatMap(({ settlements }) => settlements),
    items: all.flatMap(({ items }) => items),
    token: all.find(({ token }) => token !== "")?.token ?? "",
    shared: false,
    signal,
  });
  for (const [i, result] of settled.entries()) calls[i]?.answer(result);
}

/** Takes a task for each of several callers with equal options, and hands them out in order of the calls. */
async function takeTogether(
  next: Store,
  calls: readonly SharedCall<TakeRequest, Taken>[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const [first] = calls;
  if (!first) return;
  const requests = first.item.requests.shared(signal);
  for (const { item } of calls) item.requests.isSent = true;
  let waiting = calls;
  let { token } = first.item;
  for (;;) {
    const taken = await next.take({ ...first.item, max: waiting.length, token, requests, shared: false });
    const { tasks } = taken;
    // Callers that have aborted meanwhile get no task.
    waiting = waiting.filter(({ done }) => !done);
    for (const [i, task] of tasks.entries()) waiting[i]?.answer({ ...taken, tasks: [task] });
    requests.handBack(
      tasks.slice(waiting.length).map((task) => ({
        receipt: writeReceipt({ ...task, token: taken.token, place: taken.place }),
      })),
    );
    waiting = waiting.slice(tasks.length);
    // Another take gets the next.
    if (waiting.length > 0 && taken.endedEarly) {
      token = newToken();
      continue;
    }
    for (const call of waiting) call.answer({ ...taken, tasks: [] });
    return;
  }
}
