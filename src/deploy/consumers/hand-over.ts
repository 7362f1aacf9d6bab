/** Hand-over: the tasks of an enqueue go to the consumer here without a dequeue. */
import { addLeased, MOST_LEASED } from "../../features/hand-over/index.ts";
import type { AddPlainly, Taken } from "../../kernel/store.ts";
import { milliseconds } from "../../kernel/options/duration.ts";
import { writeReceipt } from "../../kernel/names/receipt.ts";
import { DEFAULT_LEASE } from "../../kernel/record/record.ts";
import { opening } from "../../open/opening.ts";
import type { Drains } from "../drains.ts";
import type { ServiceContext } from "../invocation.ts";
import type { Setup } from "../setup.ts";
import type { ConsumerHere } from "./checked-consumers.ts";

/** Requests of a drain that begins with tasks, beside those of their handlers. */
const DRAIN_REQUESTS = 10;

/**
 * Makes the calls that add tasks for a consumer which begins them at once.
 * @param count how many tasks
 * @param drains those of the invocation, or of the process
 * @returns undefined if the consumer works here already, has a worker's name, or cannot begin as many at once
 */
export function addingFor<Env extends object>(
  name: string,
  count: number,
  { work, queue }: Pick<ConsumerHere<Env>, "work" | "queue">,
  { platform, hooks }: Pick<Setup<Env>, "platform" | "hooks">,
  drains: Drains,
): AddPlainly | undefined {
  if (platform.beginsAfterResponse || drains.isRunning(name)) return undefined;
  // A task that is handed over has no worker.
  if (work.worker ?? platform.drains?.worker) return undefined;
  const { concurrency = 5, batch = concurrency, requestsPerTask = 1 } = work;
  const free = drains.requests?.free ?? Number.POSITIVE_INFINITY;
  const affordable = Math.floor((free - DRAIN_REQUESTS) / (requestsPerTask + hooks));
  if (count > Math.min(concurrency, batch, affordable, MOST_LEASED)) return undefined;
  return addLeased(milliseconds(work.lease ?? queue.options.lease ?? DEFAULT_LEASE, "lease", { min: 1 }));
}

/** Hands tasks back unstarted that were leased for a drain. If it fails, their leases expire. */
export async function handBack<Env extends object>(
  name: string,
  all: readonly Taken[],
  { setup, ofQueues, wakerIn }: ServiceContext<Env>,
  drains: Drains,
): Promise<void> {
  const settlements = all.flatMap(({ tasks, token, place }) =>
    tasks.map(({ id, delivery, lease }) => {
      const receipt = writeReceipt({ id, delivery, lease, token, place });
      return { receipt, outcome: "requeue", unstarted: true } as const;
    }),
  );
  if (settlements.length === 0) return;
  const transport = drains.counted(setup.transport);
  const queue = opening({ ...ofQueues, transport, wake: wakerIn({ timeLeft: undefined }) })(name).queue();
  await queue.settle(settlements).catch(() => {});
}
