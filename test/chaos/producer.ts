// A producer: enqueues tasks of all kinds, one or some at a time, and cancels a few.

import { setTimeout as sleep } from "node:timers/promises";
import type { NewTask } from "../../src/index.ts";
import { Part } from "./part.ts";
import { drawErrand, type Errand, LEASE, QUEUES } from "./work.ts";

const part = new Part();
const { roll, ledger } = part;
const queues = {
  plain: part.queue(QUEUES.plain),
  shared: part.queue(QUEUES.shared),
  long: part.queue(QUEUES.long),
};
const recent: { queue: keyof typeof queues; id: string }[] = [];
let marks = 0;

function task(does: Errand["does"], options: Omit<NewTask<Errand>, "payload"> = {}): NewTask<Errand> {
  return { payload: { mark: `${part.name}-${++marks}`, does }, ...options };
}

/** One of the ordinary kind, sometimes delayed, sometimes under an id of its own. */
function plain(): NewTask<Errand> {
  const [does, options] = drawErrand(roll);
  const id = roll(2) === 0 ? { id: `${part.name}-${marks + 1}` } : {};
  return task(does, { ...options, ...id, ...(roll(5) === 0 && { delay: roll(1_500) }) });
}

function shared(): NewTask<Errand> {
  return task("quick", {
    ...(roll(5) > 0 && { group: `g${roll(4)}` }),
    ...(roll(4) === 0 && { priority: roll(3) }),
    ...(roll(8) === 0 && { delay: roll(1_000) }),
  });
}

async function enqueue(queue: keyof typeof queues, tasks: NewTask<Errand>[]): Promise<void> {
  const call = ledger.nextCall();
  ledger.write({ what: "enqueue", call, queue, marks: tasks.map(({ payload }) => payload.mark) });
  try {
    const [first, ...others] = tasks as [NewTask<Errand>, ...NewTask<Errand>[]];
    const { payload, ...options } = first;
    const told =
      others.length === 0
        ? [await queues[queue].enqueue(payload, options)]
        : await queues[queue].enqueueMany(tasks);
    ledger.write({
      what: "enqueued",
      call,
      ids: told.map(({ id }) => id),
      created: told.map(({ created }) => created),
    });
    recent.push(...told.map(({ id }) => ({ queue, id })));
    recent.splice(0, recent.length - 20);
  } catch (error) {
    part.met(error, call);
  }
}

async function cancelOne(): Promise<void> {
  const [chosen] = recent.splice(roll(recent.length), 1);
  if (!chosen) return;
  ledger.write({ what: "cancel", ...chosen });
  await queues[chosen.queue].cancel(chosen.id).catch((error: unknown) => part.met(error));
}

const some = (make: () => NewTask<Errand>) => Array.from({ length: 1 + roll(8) }, make);

const acts: (() => Promise<void>)[] = [
  () => enqueue("plain", some(plain)),
  () => enqueue("plain", some(plain)),
  () => enqueue("plain", [plain()]),
  () => enqueue("shared", some(shared)),
  () => enqueue("shared", some(shared)),
  () => (roll(3) === 0 ? enqueue("long", [task("long", { maxAttempts: 0, lease: LEASE })]) : cancelOne()),
  // An id that other producers use at the same time.
  () => enqueue("plain", [task("quick", { id: `u-${Math.floor(Date.now() / 500)}` })]),
];

while (!part.ending.aborted) {
  await acts[roll(acts.length)]?.();
  await sleep(40 + roll(200));
}
