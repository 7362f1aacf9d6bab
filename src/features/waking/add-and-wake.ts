/** Adding tasks for which a consumer is woken if none counts as awake. */
import { redisTime } from "../../kernel/clock.ts";
import { asRecords, learningPlain } from "../../kernel/enqueue/add-plainly.ts";
import { InstanceMemory } from "../../kernel/instance-memory.ts";
import type { AddBatch, AddedTask, AddPlainly, AddReply, Adds, Item } from "../../kernel/store.ts";
import { enqueueAndWakeScript } from "../../kernel/scripts/enqueue-and-wake-script.ts";
import type { CheckedWaker } from "./waker.ts";

/** Adds tasks, and wakes a consumer if none is awake, or starts the one that is here. */
export async function addAndWake(next: Adds, waker: CheckedWaker, batch: AddBatch): Promise<AddReply> {
  const { queue } = next;
  const { name } = queue;
  const handOver = waker.given.handOver?.(name, batch.drafts.length);
  const reply = await next.add({
    ...batch,
    wakeWindow: waker.window(name),
    addPlainly: handOver?.addPlainly ?? addWaking,
    plainWithIds: handOver !== undefined,
  });
  const { wake, taken, items, added } = reply;
  const wakes: Promise<void>[] = [];
  if (wake) wakes.push(waker.wake(name));
  if (taken) wakes.push(waker.call(name, () => handOver?.begin(taken)));
  if (waker.looksAhead(name)) {
    // Read after the call, so that no instant is too early.
    const now = queue.now?.() ?? redisTime(queue.transport);
    wakes.push(waker.wakeAt(name, firstAdded(items, added, now)));
  }
  return { ...reply, after: [...reply.after, ...wakes] };
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
  const instants = due.filter((at) => at > now);
  return instants.length > 0 ? Math.min(...instants) : undefined;
}

/** Until when enqueues of this instance know that a consumer counts as awake while tasks wait; epoch ms. */
const awakeUntil = new InstanceMemory<number>();

/**
 * The call that adds plain tasks and may wake a consumer. As long as the last wake counts, a lone task costs no look at
 * it if others wait: a consumer that finds the queue empty lets its wake go.
 */
const addWaking: AddPlainly = (shard, note, items, wakeWindow) => {
  const { transport, now = Date.now } = shard.queue;
  const { tasks } = shard.keys;
  const left = (awakeUntil.get(transport, tasks) ?? 0) - now();
  // After this clock has jumped back, it knows nothing.
  const isKnown = left > 0 && left <= Number(wakeWindow) && !note.mustReadSettings;
  const args = { window: wakeWindow, ifEmpty: isKnown ? "1" : "" };
  const call = learningPlain(shard.call(enqueueAndWakeScript, args, asRecords(items), note));
  const read: typeof call.read = (outcome) => {
    const reply = call.read(outcome);
    const awakeFor = reply?.wake ? Number(wakeWindow) : reply?.awakeFor;
    if (awakeFor !== undefined) awakeUntil.set(transport, tasks, now() + awakeFor);
    return reply;
  };
  return { ...call, read };
};
