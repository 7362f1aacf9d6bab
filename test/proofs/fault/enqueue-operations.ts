/** Calls that enqueue. */
import type { NewTask } from "../../../src/index.ts";
import { queueKeys } from "../../../src/kernel/names/keys.ts";
import { byBothScripts } from "../../support/plain-enqueue.ts";
import { QUEUE } from "../../support/rig.ts";
import type { Operation } from "./operation.ts";
import { now } from "./starting-point.ts";

const at = { testNow: String(now()) };
const one = [{ id: "one-more", record: ";t=k\nj1" }];
const two = [...one, { id: "two-more", record: ";t=k\nj2" }];
const someTasks: readonly NewTask<unknown>[] = [
  { payload: 1 },
  { id: "new", payload: 2, group: "capped" },
  { id: "done-1", payload: 3, again: true },
  { id: "p1", payload: 4 },
  { payload: 5, delay: "1h", priority: 3 },
  { payload: 6, dedup: { key: "other", window: "1h" } },
];

export const enqueues: readonly Operation[] = [
  { script: "enqueue", call: (by) => by.queue().enqueueMany(someTasks, { idempotencyKey: "k" }) },
  {
    script: "enqueue",
    what: "of one task alone",
    nth: 2,
    async call(by) {
      const queue = by.queue();
      const first = await queue.enqueue(1, { idempotencyKey: "first" });
      return [first, await queue.enqueue(2, { idempotencyKey: "k" })];
    },
  },
  {
    script: "enqueue",
    what: "that wakes",
    call: async (by) => [await by.waking().enqueue(1, { idempotencyKey: "k" }), by.woken],
  },
  {
    script: "enqueuePlain",
    call: ({ transport }) => byBothScripts(transport, queueKeys(QUEUE), one, at),
  },
  {
    script: "enqueuePlain",
    what: "of several tasks",
    call: ({ transport }) => byBothScripts(transport, queueKeys("empty"), two, at),
  },
  {
    script: "enqueuePlain",
    what: "that leaves it to enqueue",
    call: ({ transport }) =>
      byBothScripts(transport, queueKeys(QUEUE), [{ id: "p1", record: ";t=k\nj1" }], at),
  },
  {
    script: "enqueueAndWake",
    what: "of one task, if a consumer counts as awake as long as tasks wait",
    call: ({ transport }) =>
      byBothScripts(transport, queueKeys("empty"), one, { ...at, wake: "60000", ifEmpty: "1" }),
  },
  {
    script: "enqueueAndWake",
    what: "of one task behind others, while a consumer is awake",
    async call({ transport }) {
      const { tasks } = queueKeys("other");
      // It was woken, and has taken tasks since.
      await transport.send([["HSET", tasks, "~wake", `${now() - 20_000} ${now() + 50_000} 60000`]]);
      return byBothScripts(transport, queueKeys("other"), one, { ...at, wake: "60000", ifEmpty: "1" });
    },
  },
  {
    script: "enqueueAndWake",
    what: "of several tasks",
    call: ({ transport }) => byBothScripts(transport, queueKeys("empty"), two, { ...at, wake: "60000" }),
  },
  {
    script: "enqueueAndWake",
    what: "that leaves it to enqueue",
    call: ({ transport }) => byBothScripts(transport, queueKeys(QUEUE), two, { ...at, wake: "60000" }),
  },
];
