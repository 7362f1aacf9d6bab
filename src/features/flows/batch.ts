import { onlyOptions, REQUEST_OPTIONS } from "../../kernel/options/validation.ts";
import { addPlan, type AddedFlow, type FlowOptions } from "./add-flow.ts";
import { flowQueue, type QueueOfFlow } from "./flow-queue.ts";
import { type BatchCallbacks, type BatchTask, planBatch } from "./graph/plan-batch.ts";

/** The callbacks of a batch, and the options of its flow. */
export interface BatchOptions extends BatchCallbacks<QueueOfFlow>, FlowOptions {}

const OPTIONS = ["completed", "failed", "ended", "id", "onFailure", ...REQUEST_OPTIONS];

/**
 * Adds tasks that do not wait for each other, with callbacks: tasks that begin once all of them have ended. It is a flow,
 * whose tasks have the refs `1`, `2`, … and `completed`, `failed`, `ended`.
 * @param tasks at least one
 * @throws {SluiceError} `invalid_argument`, `too_large`, `queue_full`, or a fault of the transport
 * @example
 * await batch(
 *   rows.map((row) => ({ queue: imports, payload: row })),
 *   { completed: { queue: emails, payload: { to } }, failed: { queue: alerts, payload: { to } } },
 * );
 */
export async function batch(
  tasks: readonly BatchTask<QueueOfFlow>[],
  options: BatchOptions = {},
): Promise<AddedFlow> {
  onlyOptions(options, OPTIONS);
  const { completed, failed, ended, ...others } = options;
  return addPlan(planBatch(tasks, { completed, failed, ended }), flowQueue, others);
}
