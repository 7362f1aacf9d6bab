/** Adding plain tasks to one shard, for which a consumer is woken if none counts as awake. */
import { asRecords, learningPlain } from "../../kernel/enqueue/add-plainly.ts";
import { InstanceMemory } from "../../kernel/instance-memory.ts";
import type { AddPlainly } from "../../kernel/store.ts";
import { enqueueAndWakeScript } from "../../kernel/scripts/enqueue-and-wake-script.ts";

/** Until when enqueues of this instance know that a consumer counts as awake while tasks wait; epoch ms. */
const awakeUntil = new InstanceMemory<number>();

/**
 * The call that adds plain tasks and may wake a consumer. As long as the last wake counts, a lone task costs no look at
 * it if others wait: a consumer that finds the queue empty lets its wake go.
 */
export const addWaking: AddPlainly = (shard, note, items, wakeWindow) => {
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
