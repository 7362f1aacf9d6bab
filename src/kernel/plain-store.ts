import { readSettled } from "./lease/settlements.ts";
import { exchange, run } from "./call.ts";
import { firstDueCall, pendingCall, timeCall } from "./lease/peek.ts";
import { plainAdds } from "./plain-adds.ts";
import type { QueueRef } from "./queue-ref.ts";
import type { SettlementArguments, Store } from "./store.ts";
import { bothCall, MOST_SETTLED, settleCall, takeCall, takenBy } from "./lease/lease-calls.ts";

/** Whether items need more than one script call. */
const needsMore = (items: readonly SettlementArguments[]) =>
  items.length > MOST_SETTLED || items.some(({ pause }) => pause);

/** The store of a queue that is not divided. */
export function plainStore(queue: QueueRef): Store {
  const adds = plainAdds(queue);
  const shard = adds.shard(0);
  const { transport } = queue;
  const store: Store = {
    ...adds,
    async take(request) {
      const call = takeCall(shard, request);
      return takenBy(shard, request, call, await run(request.requests.over(transport), call));
    },
    async settle({ settlements, items: given, token, signal }) {
      const items = await given;
      const replies = await (needsMore(items)
        ? (await import("./lease/settle-slices.ts")).settleAll(shard, items, token, { signal })
        : run(transport, settleCall(shard, items, token), { signal }));
      return { settled: readSettled(settlements, replies), after: [] };
    },
    async settleAndTake(batch, request) {
      const { settlements, token } = batch;
      const items = await batch.items;
      if (needsMore(items)) return { ...(await store.settle(batch)), taken: () => store.take(request) };
      const take = takeCall(shard, request);
      const call = bothCall(settleCall(shard, items, token), take, request.lookAfter);
      const { settled, taken } = await run(request.requests.over(transport), call);
      return {
        settled: readSettled(settlements, settled),
        after: [],
        taken: () => takenBy(shard, request, take, taken),
      };
    },
    async peek({ due, time, signal }) {
      const calls = [pendingCall(shard), ...(due ? [firstDueCall(shard)] : []), ...(time ? [timeCall] : [])];
      const replies = await exchange(transport, calls, { signal });
      return {
        hasPending: replies[0]?.() === true,
        dueAt: due ? (replies[1]?.() as number | null) : null,
        now: time ? (replies.at(-1)?.() as number) : undefined,
      };
    },
  };
  return store;
}
