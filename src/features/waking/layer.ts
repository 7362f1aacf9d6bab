import type { Settled } from "../../kernel/options/types.ts";
import { OnDemand } from "../../kernel/on-demand.ts";
import type { Adds, Ready, SettleReply, Store } from "../../kernel/store.ts";
import type { CheckedWaker } from "./waker.ts";

/** Loaded at the first enqueue that may wake. */
const waking = new OnDemand(() => import("./add-and-wake.ts"));

/** Wakes a consumer for tasks that are added, and arranges a wake for those that are delayed. */
export function wakeForAdds<S extends Adds>(next: S, waker: CheckedWaker): S {
  const { queue } = next;
  const { name } = queue;
  return {
    ...next,
    pool: `${next.pool} ${waker.window(name)}`,
    wakeWindow: () => waker.window(name),
    async ready({ now = false, at, scheduleAt }: Ready) {
      if (now) await waker.wake(name);
      await waker.wakeAt(name, at);
      if (scheduleAt !== undefined) await waker.sweepAt(name, scheduleAt);
    },
    add: async (batch) =>
      waker.window(name) === ""
        ? next.add(batch)
        : waking.use(({ addAndWake }) => addAndWake(next, waker, batch)),
  };
}

/** As {@link wakeForAdds}; also arranges a wake for tasks that are requeued with a delay. */
export function wake(store: Store, waker: CheckedWaker): Store {
  const next = wakeForAdds(store, waker);
  const arranging = <Reply extends SettleReply>(reply: Reply): Reply => {
    return { ...reply, after: [...reply.after, waker.wakeAt(next.queue.name, firstRequeued(reply.settled))] };
  };
  return {
    ...next,
    settle: async (batch) => arranging(await next.settle(batch)),
    settleAndTake: async (batch, request) => arranging(await next.settleAndTake(batch, request)),
  };
}

/** When the first task that a settle has delayed is due, epoch ms; undefined if none is delayed. */
function firstRequeued(settled: readonly Settled[]): number | undefined {
  const instants = settled.flatMap((result) => (result.ok ? (result.dueAt ?? []) : []));
  return instants.length > 0 ? Math.min(...instants) : undefined;
}
