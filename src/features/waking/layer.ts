import { redisTime } from "../../kernel/clock.ts";
import type { Settled } from "../../kernel/options/types.ts";
import type { AddBatch, AddedTask, Adds, Item, Ready, SettleReply, Store } from "../../kernel/store.ts";
import { OnDemand } from "../../kernel/on-demand.ts";
import type { CheckedWaker } from "./waker.ts";

/** Loaded at the first enqueue that may wake. */
const waking = new OnDemand(() => import("./add-waking.ts"));

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
    async add(batch: AddBatch) {
      const handOver = waker.handOver(name, batch.drafts.length);
      const wakeWindow = waker.window(name);
      const addPlainly =
        handOver?.addPlainly ?? (wakeWindow && (await waking.use(({ addWaking }) => addWaking)));
      const reply = await next.add({ ...batch, wakeWindow, ...(addPlainly && { addPlainly }) });
      const wakes: Promise<void>[] = [];
      if (reply.wake) wakes.push(waker.wake(name));
      if (handOver && reply.taken) wakes.push(waker.begin(name, handOver, reply.taken));
      if (waker.looksAhead(name)) {
        // Read after the call, so that no instant is too early.
        const now = queue.now?.() ?? redisTime(queue.transport);
        wakes.push(waker.wakeAt(name, firstAdded(reply.items, reply.added, now)));
      }
      return { ...reply, after: [...reply.after, ...wakes] };
    },
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

/** When the first task that was created and delayed is due, epoch ms; undefined if none is delayed. */
function firstAdded(
  items: readonly (Item | undefined)[],
  added: readonly AddedTask[],
  now: number,
): number | undefined {
  const due = items.flatMap((item, i) => {
    const answer = added[i];
    if (!item?.when || !answer || !("created" in answer && answer.created)) return [];
    return Number(item.when) + (item.when.startsWith("+") ? now : 0);
  });
  return earliest(due.filter((at) => at > now));
}

/** When the first task that a settle has delayed is due, epoch ms; undefined if none is delayed. */
function firstRequeued(settled: readonly Settled[]): number | undefined {
  return earliest(settled.flatMap((result) => (result.ok ? (result.dueAt ?? []) : [])));
}

function earliest(instants: readonly number[]): number | undefined {
  return instants.length > 0 ? Math.min(...instants) : undefined;
}
