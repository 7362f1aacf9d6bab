/** Adding plain tasks to one shard, for which a consumer is woken if none counts as awake. */
import { asRecords, learningPlain } from "../../kernel/enqueue/add-plainly.ts";
import { InstanceMemory } from "../../kernel/instance-memory.ts";
import type { AddPlainly } from "../../kernel/store.ts";
import { enqueueAndWakeScript } from "../../kernel/scripts/enqueue-and-wake-script.ts";

/** When an enqueue of this instance last saw that a consumer counts as awake, or is to be woken; epoch ms. */
const awakeAt = new InstanceMemory<number>();

/**
 * The call that adds plain tasks and may wake a consumer. For half of the window after one has counted as awake, a lone
 * task costs no look at that as long as others wait: who found the queue empty let the wake go.
 */
export const addWaking: AddPlainly = (shard, note, items, wakeWindow) => {
  const { transport } = shard.queue;
  const { tasks } = shard.keys;
  const age = Date.now() - (awakeAt.get(transport, tasks) ?? 0);
  const isAwake = age >= 0 && age < Number(wakeWindow) / 2;
  const args = { window: wakeWindow, ifEmpty: isAwake && !note.mustReadSettings ? "1" : "" };
  const call = learningPlain(shard.call(enqueueAndWakeScript, args, asRecords(items), note));
  const read: typeof call.read = (outcome) => {
    const reply = call.read(outcome);
    // It has read who is awake, or has made a consumer so.
    if (reply && (reply.wake || reply.mustReadSettings !== undefined))
      awakeAt.set(transport, tasks, Date.now());
    return reply;
  };
  return { ...call, read };
};
