// A consumer of all queues. Its style: `drain` uses a drain; `hand` pulls, works and settles itself, and
// extends what takes long; `worker` does the same with a worker name, and its heartbeats extend the leases of
// its tasks.

import { setTimeout as sleep } from "node:timers/promises";
import {
  drain,
  type Duration,
  type LeasedTask,
  NonRetryableError,
  type Settlement,
  type TaskSource,
} from "../../../src/index.ts";
import { BeatingWorker } from "./beating-worker.ts";
import { noted } from "./noted-source.ts";
import { RunProcess } from "./run-process.ts";
import { BACKOFF, type Errand, LEASE, QUEUES, work } from "./work.ts";

const runProcess = new RunProcess();
const { ending, roll, style } = runProcess;
async function drainOnce(source: TaskSource<Errand>): Promise<void> {
  await drain(source, (task) => work(task, runProcess), {
    budget: "6s",
    wait: "1s",
    batch: 8,
    concurrency: 4,
    lease: LEASE,
    backoff: BACKOFF,
    closing: ending,
  });
}

async function pullOnce(
  source: TaskSource<Errand>,
  {
    as,
    max = 1 + roll(8),
    wait = "1s",
  }: { as?: BeatingWorker | undefined; max?: number; wait?: Duration } = {},
): Promise<void> {
  const tasks = await source.dequeue({ max, lease: LEASE, wait, worker: as?.worker });
  for (const { receipt } of tasks) as?.receipts.add(receipt);
  const carried = tasks.map((task) => carry(source, task).finally(() => as?.receipts.delete(task.receipt)));
  // All of them are settled, even if some have ended.
  await Promise.allSettled(carried);
}

async function carry(source: TaskSource<Errand>, task: LeasedTask<Errand>): Promise<void> {
  const over = new AbortController();
  const extending =
    style === "hand" && task.payload.does === "long" ? extend(source, task, over.signal) : undefined;
  const settlement = await settlementOf(task);
  over.abort();
  await extending;
  // Tries once more if there was no answer, as any caller would.
  await source.settle([settlement]).catch(() => source.settle([settlement]));
}

async function settlementOf(task: LeasedTask<Errand>): Promise<Settlement> {
  const { receipt, payload, attempt } = task;
  if (roll(40) === 0) return { receipt, outcome: "requeue", unstarted: true };
  try {
    const result = await work(
      { receipt, payload, attempt, signal: new AbortController().signal },
      runProcess,
    );
    return { receipt, outcome: "complete", result };
  } catch (error) {
    return error instanceof NonRetryableError
      ? { receipt, outcome: "reject", error }
      : { receipt, outcome: "requeue", delay: BACKOFF[Math.min(attempt, BACKOFF.length) - 1], error };
  }
}

/** Extends until the work is over. After `lease_lost` the work goes on and settles: that must be refused. */
async function extend(
  source: TaskSource<Errand>,
  { receipt }: LeasedTask<Errand>,
  over: AbortSignal,
): Promise<void> {
  while (!over.aborted) {
    await sleep(LEASE / 3, undefined, { signal: over }).catch(() => {});
    if (!over.aborted) await source.settle([{ receipt, outcome: "extend", lease: LEASE }]).catch(() => {});
  }
}

async function consume(name: string): Promise<void> {
  const queue = runProcess.queue(name);
  const source = noted(queue, runProcess);
  const worker = style === "worker" ? new BeatingWorker(runProcess, queue) : undefined;
  const beats = worker?.beat();
  while (!ending.aborted) {
    // The failure is in the ledger.
    await (style === "drain" ? drainOnce(source) : pullOnce(source, { as: worker })).catch(() => sleep(200));
  }
  await beats;
}

/** Pulls one or two now and then, without waiting: so most are cancelled before. */
async function lookForRecalled(): Promise<void> {
  const source = noted(runProcess.queue(QUEUES.recalled), runProcess);
  while (!ending.aborted) {
    await pullOnce(source, { max: 1 + roll(2), wait: 0 }).catch(() => {});
    await sleep(20 + roll(100));
  }
}

const { recalled: _, ...others } = QUEUES;
await Promise.all([
  ...Object.values(others).map(consume),
  // Without a worker name: each call of a worker would also be a heartbeat.
  ...(style === "hand" ? [lookForRecalled()] : []),
]);
await runProcess.close();
