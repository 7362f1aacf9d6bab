/** Calls that hand tasks over to a consumer, which works on them once. */
import { queueKeys } from "../../../src/kernel/names/keys.ts";
import { byHandOver, type PlainItem } from "../../support/plain-enqueue.ts";
import { QUEUE } from "../../support/rig.ts";
import type { Operation } from "./operation.ts";
import { now, type Caller } from "./starting-point.ts";

const args = { testNow: String(now()), wake: "60000", lease: "120000", token: "handed-1" };
const one: readonly PlainItem[] = [{ id: "handed", record: "\nj1" }];
const several: readonly PlainItem[] = [
  ...one,
  { id: "own-lease", record: ";l=90000;m=1\nj2" },
  { id: "with-headers", record: ";h=2\n{}j3" },
];

const enqueue = ({ transport }: Caller, queue: string, items: readonly PlainItem[]) =>
  byHandOver(transport, queueKeys(queue), items, args);

/** The same, and completes what it has leased. */
async function work(by: Caller, queue: string, items: readonly PlainItem[]) {
  const added = await enqueue(by, queue, items);
  const settlements = items.flatMap(({ id }, i) => {
    const lease = added.leases[2 * i];
    if (lease === undefined) return [];
    return [{ receipt: `1.1.${lease}.${args.token}.${id}`, outcome: "complete", result: id } as const];
  });
  return [added, await by.queue({}, queue).settle(settlements)];
}

export const handOvers: readonly Operation[] = [
  { script: "enqueueAndLease", call: (by) => enqueue(by, "empty", one) },
  {
    script: "enqueueAndLease",
    what: "of a task that is completed",
    call: (by) => work(by, "empty", one),
  },
  { script: "enqueueAndLease", what: "of several tasks", call: (by) => work(by, "empty", several) },
  { script: "enqueueAndLease", what: "behind a task that waits", call: (by) => work(by, "other", several) },
  {
    script: "enqueueAndLease",
    what: "while a consumer is awake",
    async call(by) {
      const { tasks } = queueKeys("empty");
      // It was woken, and has taken tasks since.
      await by.transport.send([["HSET", tasks, "~wake", `${now() - 20_000} ${now() + 50_000} 60000`]]);
      return work(by, "empty", several);
    },
  },
  {
    script: "enqueueAndLease",
    what: "in a queue with a setting that concerns dequeues alone",
    async call(by) {
      await by.transport.send([["HSET", queueKeys("empty").tasks, "~set", "1;m=3"]]);
      return work(by, "empty", one);
    },
  },
  {
    script: "enqueueAndLease",
    what: "that leaves it to enqueue, because of the settings",
    call: (by) => work(by, QUEUE, several),
  },
];
