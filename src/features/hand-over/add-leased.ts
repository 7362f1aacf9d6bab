/** Adding plain tasks that a consumer in this process or invocation begins at once. */
import { newToken } from "../../kernel/names/ids.ts";
import { asRecords, learningPlain } from "../../kernel/enqueue/add-plainly.ts";
import type { AddPlainly, Item, Taken } from "../../kernel/store.ts";
import { enqueueAndLeaseScript } from "./hand-over-script.ts";

/** Most tasks of one call. */
export const MOST_LEASED = 32;

/**
 * A task with one attempt. It is not leased by its enqueue: if the reply is lost, it would become a dead letter, and no
 * handler would have seen it.
 */
const ONE_ATTEMPT = /^[^\n]*;m=1[;\n]/;

/**
 * The call that adds plain tasks for a consumer that can begin them at once. If nothing else is ready and no consumer
 * counts as awake, the script leases them, and the reply has them as a dequeue would.
 * @param lease of tasks that have none of their own, ms
 */
export const addLeased =
  (lease: number): AddPlainly =>
  (shard, note, items, wakeWindow) => {
    const token = newToken();
    const mayLease = !items.some(({ front }) => ONE_ATTEMPT.test(front));
    const args = { wake: wakeWindow, lease: mayLease ? String(lease) : "", token };
    const call = learningPlain(shard.call(enqueueAndLeaseScript, args, asRecords(items), note));
    return {
      ...call,
      read: (outcome) => {
        const reply = call.read(outcome);
        if (!reply || "isKnown" in reply) return undefined;
        const { leased } = reply;
        if (!leased) return reply;
        return { wake: false, taken: { ...taken(items, leased), token, place: shard.place } };
      },
    };
  };

function taken(
  items: readonly Item[],
  { enqueuedAt, leases }: { readonly enqueuedAt: number; readonly leases: readonly number[] },
): Omit<Taken, "token" | "place"> {
  const tasks = items.map(({ id, front, payload }, i) => ({
    id,
    delivery: 1,
    lease: leases[2 * i] as number,
    deadlineAt: leases[2 * i + 1] as number,
    record: `1;${enqueuedAt}${front}${payload}`,
  }));
  return { tasks, nextDueAt: null, paused: false, endedEarly: false };
}
