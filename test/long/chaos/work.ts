import { setTimeout as sleep } from "node:timers/promises";
import { NonRetryableError, type EnqueueOptions, type Task } from "../../../src/index.ts";
import { push } from "../../../src/features/push/index.ts";
import { readReceipt } from "../../../src/kernel/names/receipt.ts";
import { type InFlow, workInFlow } from "./flows-work.ts";
import type { RunProcess } from "./run-process.ts";

/** The lease that all consumers take, ms. */
export const LEASE = 1_500;

/** After how long a failed task is delivered again, ms: after its first attempt, and after all others. */
export const BACKOFF = [100, 400];

/** The queues, and what each is for. */
export const QUEUES = {
  /** Tasks of all kinds, delayed ones, and such as several producers enqueue under one id. */
  plain: "plain",
  /** Groups and priorities, with limits. */
  shared: "shared",
  /** Tasks that take longer than their lease. */
  long: "long",
  /** Tasks of which most are cancelled before a consumer pulls: consumers find mostly their ghosts. */
  recalled: "recalled",
  /** Tasks that a deployment enqueues and begins in the same invocation, if nothing else is to be done. */
  lone: "lone",
  /** What a schedule enqueues, each second. */
  ticks: "ticks",
  /** Groups in strict order. The end of a task's mark names its group. */
  ordered: "ordered",
  /** Debounced tasks and singletons. The end of a task's mark names its key. */
  keyed: "keyed",
  /** Deliveries to a receiver over HTTP. */
  deliveries: "deliveries",
  /** Tasks of flows. */
  steps: "steps",
  stages: "stages",
} as const;

/** How many tasks of a queue may be working at once, in all partitions together. */
export const MAX_WORKING: Readonly<Record<string, number>> = { [QUEUES.shared]: 16 };

/** What is to be done. */
export interface Errand {
  /** The mark of this enqueue, unlike all others. */
  readonly mark: string;
  readonly does: keyof typeof errands;
  /** Of a task of a flow. */
  readonly inFlow?: InFlow;
}

/** A leased task, and its holder. */
export type Holding = Pick<Task<Errand>, "receipt" | "payload" | "attempt" | "signal">;

/** What is done for each errand. An error that it throws fails the attempt. */
const errands = {
  quick: (_: Holding, roll) => sleep(5 + roll(40)),
  /** Fails at first. */
  stumble: async ({ attempt }, roll) => {
    await sleep(5 + roll(20));
    if (attempt === 1) throw new Error("it stumbles at first");
  },
  /** Fails each time. */
  doom: async (_, roll) => {
    await sleep(5 + roll(20));
    throw new Error("it never succeeds");
  },
  refuse: () => Promise.reject(new NonRetryableError("this task cannot succeed")),
  long: ({ signal }, roll) => sleep(LEASE * 1.2 + roll(LEASE), undefined, { signal }),
  /** Kills its process, as a task does that takes too much memory. */
  kill: async ({ attempt }) => {
    if (attempt === 1) process.kill(process.pid, "SIGKILL");
    await sleep(5);
  },
  /** Sends a request to the receiver, as deployments do. It ends before the lease, also if the receiver is paused. */
  deliver: async ({ receipt, payload, attempt, signal }, _, { env }) => {
    const send = push({ url: env.CHAOS_RECEIVER, allowPrivate: ["127.0.0.1"], timeout: LEASE / 2 });
    const { id } = readReceipt(receipt, "receipt");
    const task = {
      id,
      receipt,
      payload,
      attempt,
      signal,
      enqueuedAt: 0,
      headers: undefined,
      group: undefined,
    };
    await send(task);
  },
  /** The first consumer that extends no lease works past it. */
  oversleep: async ({ attempt, receipt }, roll, runProcess) => {
    if (attempt > 1 || runProcess.style !== "hand") return;
    runProcess.ledger.write({ what: "overslept", receipt });
    await sleep(LEASE * 1.3 + roll(1_000));
  },
} satisfies Record<
  string,
  (task: Holding, roll: (sides: number) => number, runProcess: RunProcess) => Promise<void>
>;

/** Does what a task says. Its result names the lease under which it was done. */
export async function work(task: Holding, runProcess: RunProcess): Promise<{ lease: number }> {
  if (task.payload.inFlow) await workInFlow(task, task.payload.inFlow, runProcess);
  await errands[task.payload.does](task, runProcess.roll, runProcess);
  return { lease: readReceipt(task.receipt, "receipt").lease };
}

/** How many of a hundred tasks have each errand; the rest are quick. */
const shares: readonly (readonly [Errand["does"], number, EnqueueOptions])[] = [
  ["stumble", 8, {}],
  ["doom", 3, { maxAttempts: 2 }],
  ["refuse", 2, {}],
  ["oversleep", 3, {}],
];

/** A random errand, with the options that it needs. */
export function drawErrand(roll: (sides: number) => number): [Errand["does"], EnqueueOptions] {
  if (roll(700) === 0) return ["kill", { maxAttempts: 3 }];
  let lot = roll(100);
  for (const [does, share, options] of shares) {
    if (lot < share) return [does, options];
    lot -= share;
  }
  return ["quick", {}];
}
