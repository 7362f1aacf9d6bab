/** Adding tasks for which a consumer is woken if none counts as awake. */
import { redisTime } from "../../kernel/clock.ts";
import { asRecords, learningPlain } from "../../kernel/enqueue/add-plainly.ts";
import { InstanceMemory } from "../../kernel/instance-memory.ts";
import type { AddBatch, AddedTask, AddPlainly, AddReply, Adds, Draft, Item } from "../../kernel/store.ts";
import { enqueueAndWakeScript } from "../../kernel/scripts/enqueue-and-wake-script.ts";
import { unlessAborted } from "../../kernel/unless-aborted.ts";
import type { CheckedWaker, HandOver } from "./waker.ts";

/** Adds tasks, and wakes a consumer if none is awake, or starts the one that is here. */
export async function addAndWake(next: Adds, waker: CheckedWaker, batch: AddBatch): Promise<AddReply> {
  const { name } = next.queue;
  const { signal, drafts } = batch;
  const handOver = waker.given.handOver?.(name, drafts.length);
  const all = { ...batch, wakeWindow: waker.window(name), plainWithIds: handOver !== undefined };
  const addPlainly = addingPlainly(drafts, handOver);
  if (!handOver || !signal) return adding(next, waker, { ...all, addPlainly }, handOver);
  return unlessAborted(signal, () => {
    // What the request leases must be begun, also if its caller aborts meanwhile.
    const added = adding(next, waker, { ...all, addPlainly, signal: undefined }, handOver);
    void waker.call(name, () => added.catch(() => {}));
    return added;
  });
}

async function adding(
  next: Adds,
  waker: CheckedWaker,
  batch: AddBatch,
  handOver: HandOver | undefined,
): Promise<AddReply> {
  const { queue } = next;
  const { name } = queue;
  const reply = await next.add(batch);
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

/** Longest time that an enqueue relies on an earlier one which saw that a consumer is awake, ms. */
const LONGEST_TRUST = 1_000;

/** Until when enqueues of this instance take a consumer for awake while tasks wait; epoch ms. */
const awakeUntil = new InstanceMemory<number>();

/**
 * Makes the calls that add plain tasks of a batch, and may wake a consumer. For a second after one was seen awake, a lone
 * task costs no look at that if others wait. A consumer that finds the queue empty lets its wake go, so that only tasks
 * which were put back since, or added by a program that wakes none, can mislead it.
 */
function addingPlainly(drafts: readonly Draft[], handOver: HandOver | undefined): AddPlainly {
  const hasIds = drafts.some(({ id, derivedId }) => (id ?? derivedId) !== undefined);
  return (shard, note, items, wakeWindow) => {
    const { transport, now = Date.now } = shard.queue;
    const { tasks } = shard.keys;
    const sentAt = now();
    const left = (awakeUntil.get(transport, tasks) ?? 0) - sentAt;
    const isAwake = left > 0 && left <= LONGEST_TRUST && !note.mustReadSettings;
    const add = handOver && (hasIds || !isAwake) ? handOver.addPlainly : addWaking(isAwake);
    const call = add(shard, note, items, wakeWindow);
    const read: typeof call.read = (outcome) => {
      const reply = call.read(outcome);
      const awakeFor = reply?.wake ? Number(wakeWindow) : reply?.awakeFor;
      if (awakeFor !== undefined)
        awakeUntil.set(transport, tasks, sentAt + Math.min(awakeFor, LONGEST_TRUST));
      return reply;
    };
    return { ...call, read };
  };
}

/** @param isAwake whether a consumer counts as awake if tasks wait */
const addWaking =
  (isAwake: boolean): AddPlainly =>
  (shard, note, items, wakeWindow) => {
    const args = { window: wakeWindow, ifEmpty: isAwake ? "1" : "" };
    return learningPlain(shard.call(enqueueAndWakeScript, args, asRecords(items), note));
  };
