// A producer: enqueues tasks of all kinds, one or some at a time, and cancels a few. Its style: `partitions` declares
// how many partitions the queues have; `lone` lets a deployment enqueue a few plain tasks at a time; `flows` adds flows;
// without, it knows of no partitions.

import { setTimeout as sleep } from "node:timers/promises";
import type { NewTask } from "../../../src/index.ts";
import { produceFlows } from "./flows-producer.ts";
import { keyedProducer } from "./keys-producer.ts";
import { RunProcess } from "./run-process.ts";
import { drawErrand, type Errand, LEASE, QUEUES } from "./work.ts";

const runProcess = new RunProcess();
const { roll, ledger } = runProcess;
const queues = {
  plain: runProcess.queue(QUEUES.plain),
  shared: runProcess.queue(QUEUES.shared),
  long: runProcess.queue(QUEUES.long),
  recalled: runProcess.queue(QUEUES.recalled),
  ordered: runProcess.queue(QUEUES.ordered),
  deliveries: runProcess.queue(QUEUES.deliveries),
};
const recent: { queue: keyof typeof queues; id: string }[] = [];
let marks = 0;

function task(does: Errand["does"], options: Omit<NewTask<Errand>, "payload"> = {}): NewTask<Errand> {
  return { payload: { mark: `${runProcess.name}-${++marks}`, does }, ...options };
}

/** An ordinary task, sometimes delayed, sometimes under an id of its own. */
function plain(): NewTask<Errand> {
  const [does, options] = drawErrand(roll);
  const id = roll(2) === 0 ? { id: `${runProcess.name}-${marks + 1}` } : {};
  return task(does, { ...options, ...id, ...(roll(5) === 0 && { delay: roll(1_500) }) });
}

function shared(): NewTask<Errand> {
  return task("quick", {
    ...(roll(5) > 0 && { group: `g${roll(4)}` }),
    ...(roll(4) === 0 && { priority: roll(3) }),
    ...(roll(8) === 0 && { delay: roll(1_000) }),
  });
}

/** A task of a group in strict order. What its id has in braces places it with its group. */
function ordered(): NewTask<Errand> {
  const [does, options] = drawErrand(roll);
  const group = `o${roll(12)}`;
  const { payload } = task(does);
  return {
    ...options,
    group,
    id: `${payload.mark}{${group}}`,
    payload: { ...payload, mark: `${payload.mark}@${group}` },
  };
}

/** Returns the enqueued tasks, or nothing if there was no answer. */
async function enqueue(
  queue: keyof typeof queues,
  tasks: NewTask<Errand>[],
  request: { readonly idempotencyKey?: string } = {},
): Promise<typeof recent> {
  const call = ledger.nextCall();
  ledger.write({ what: "enqueue", call, queue, marks: tasks.map(({ payload }) => payload.mark) });
  try {
    const [first, ...others] = tasks as [NewTask<Errand>, ...NewTask<Errand>[]];
    const { payload, ...options } = first;
    const reported =
      others.length === 0
        ? [await queues[queue].enqueue(payload, { ...options, ...request })]
        : await queues[queue].enqueueMany(tasks, request);
    ledger.write({
      what: "enqueued",
      call,
      ids: reported.map(({ id }) => id),
      created: reported.map(({ created }) => created),
    });
    const made = reported.map(({ id }) => ({ queue, id }));
    recent.push(...made);
    recent.splice(0, recent.length - 20);
    return made;
  } catch (error) {
    runProcess.met(error, call);
    return [];
  }
}

/** Asks again if there was no answer. With the same idempotency key, which makes both one enqueue. */
async function enqueueOnce(queue: keyof typeof queues, tasks: NewTask<Errand>[]): Promise<void> {
  const request = { idempotencyKey: tasks[0]?.payload.mark ?? "" };
  for (let asked = 0; asked < 3 && !runProcess.ending.aborted; asked++) {
    if ((await enqueue(queue, tasks, request)).length > 0) return;
  }
}

async function cancelOne(): Promise<void> {
  const [chosen] = recent.splice(roll(recent.length), 1);
  if (chosen) await cancel(chosen);
}

async function cancel(task: (typeof recent)[number]): Promise<void> {
  ledger.write({ what: "cancel", ...task });
  await queues[task.queue].cancel(task.id).catch((error: unknown) => runProcess.met(error));
}

/** Enqueues some, and cancels nearly all of them at once. */
async function recall(): Promise<void> {
  const made = await enqueue(
    "recalled",
    some(() => task("quick")),
  );
  await Promise.all(made.filter(() => roll(20) > 0).map(cancel));
}

const some = (make: () => NewTask<Errand>) => Array.from({ length: 1 + roll(8) }, make);

/** Lets the deployment enqueue plain tasks. */
async function post(): Promise<void> {
  const tasks = Array.from({ length: roll(3) === 0 ? 1 + roll(6) : 1 }, () => {
    const [does, options] = drawErrand(roll);
    return task(does, options);
  });
  const call = ledger.nextCall();
  ledger.write({ what: "enqueue", call, queue: "lone", marks: tasks.map(({ payload }) => payload.mark) });
  try {
    const response = await fetch(`${runProcess.env.CHAOS_SERVER}/lone`, {
      method: "POST",
      body: JSON.stringify(tasks),
      signal: AbortSignal.timeout(10_000),
    });
    if (!response.ok) throw new Error(`it answered ${response.status}`);
    const made = (await response.json()) as readonly { readonly id: string; readonly created: boolean }[];
    ledger.write({
      what: "enqueued",
      call,
      ids: made.map(({ id }) => id),
      created: made.map(({ created }) => created),
    });
  } catch {
    // Whatever went wrong there, it may have enqueued them.
    ledger.write({ what: "failed", call, code: "unreachable" });
  }
}

const enqueueKeyed = keyedProducer(runProcess, () => `${runProcess.name}-${++marks}`);

const acts: (() => Promise<unknown>)[] = [
  () => enqueue("plain", some(plain)),
  () => enqueue("plain", some(plain)),
  () => enqueue("plain", [plain()]),
  () => enqueueOnce("plain", some(plain)),
  () => enqueueOnce("shared", some(shared)),
  () => enqueue("shared", some(shared)),
  () => enqueue("shared", some(shared)),
  () => (roll(3) === 0 ? enqueue("long", [task("long", { maxAttempts: 0, lease: LEASE })]) : cancelOne()),
  () => enqueueOnce("ordered", some(ordered)),
  () => enqueue("ordered", some(ordered)),
  () =>
    enqueueOnce(
      "deliveries",
      some(() => task("deliver", { maxAttempts: 0 })),
    ),
  enqueueKeyed,
  enqueueKeyed,
  recall,
  recall,
  // An id that other producers use at the same time.
  () => enqueue("plain", [task("quick", { id: `u-${Math.floor(Date.now() / 500)}` })]),
];

if (runProcess.style === "flows") await produceFlows(runProcess);
while (!runProcess.ending.aborted) {
  await (runProcess.style === "lone" ? post() : acts[roll(acts.length)]?.());
  await sleep(40 + roll(200));
}
await runProcess.close();
