import type { Evidence } from "./evidence.ts";
import type { History } from "./history.ts";
import { QUEUES } from "./work.ts";

/** What became of the deliveries to URLs, counted. */
export interface DeliveryTally {
  delivered: number;
  /** How often the receiver took one that it had taken before. */
  repeated: number;
}

/** Each delivery that was completed was taken by the receiver, and all copies of a delivery have its id. */
export function judgeDeliveries(
  { tasks }: History,
  { received }: Evidence,
): { readonly tally: DeliveryTally; readonly violations: readonly string[] } {
  const violations: string[] = [];
  const tally = { delivered: 0, repeated: 0 };
  for (const { queue, id, mark, state } of tasks.values()) {
    if (queue !== QUEUES.deliveries) continue;
    const marks = received.get(id) ?? [];
    if (state === "completed" && marks.length === 0)
      violations.push(`the delivery ${id} was completed, but no receiver took it`);
    if (marks.some((one) => one !== mark)) violations.push(`the delivery ${id} came with another's content`);
    if (marks.length > 0) tally.delivered++;
    tally.repeated += Math.max(0, marks.length - 1);
  }
  const known = new Set(Array.from(tasks.values(), ({ queue, id }) => `${queue} ${id}`));
  for (const id of received.keys())
    if (!known.has(`${QUEUES.deliveries} ${id}`))
      violations.push(`a delivery came under the id ${id} of no task`);
  return { tally, violations };
}
