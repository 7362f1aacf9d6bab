import { readSettled } from "./lease/settlements.ts";
import { exchange, run } from "./call.ts";
import { firstDueCall, pendingCall, timeCall } from "./lease/peek.ts";
import { plainAdds } from "./plain-adds.ts";
import type { QueueRef } from "./queue-ref.ts";
import type { Store } from "./store.ts";
import { bothCall, settleCall, takeCall, takenBy } from "./lease/lease-calls.ts";

/** The store of a queue that is not divided. */
export function plainStore(queue: QueueRef): Store {
  const adds = plainAdds(queue);
  const shard = adds.shard(0);
  const { transport } = queue;
  return {
    ...adds,
    async take(request) {
      const call = takeCall(shard, request);
      return takenBy(shard, request, call, await run(request.requests.over(transport), call));
    },
    async settle({ settlements, items, token, signal }) {
      const call = settleCall(shard, await items, token);
      return { settled: readSettled(settlements, await run(transport, call, { signal })), after: [] };
    },
    async settleAndTake({ settlements, items, token }, request) {
      const take = takeCall(shard, request);
      const call = bothCall(settleCall(shard, await items, token), take);
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
}
