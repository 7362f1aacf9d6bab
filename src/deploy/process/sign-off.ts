import type { WorkerName } from "../../kernel/options/types.ts";
import type { SendOptions } from "../../kernel/transport.ts";
import type { Operator } from "../../open/operator.ts";

/** Workers that one request reads. */
const PAGE = 1_000;

/**
 * Takes a worker that works no more off the list of a queue's workers. If it still has tasks, as after a settle that
 * failed, it stays, and its leases expire.
 * @param worker it must have an incarnation of its own, so that no other process takes tasks as this worker
 */
export async function signOff(operator: Operator, worker: WorkerName, options: SendOptions): Promise<void> {
  const { name, incarnation } = worker;
  let cursor: string | undefined;
  do {
    const page = await operator.workers({ size: PAGE, cursor, ...options });
    const own = page.workers.find((one) => one.name === name && one.incarnation === incarnation);
    if (own) {
      if (own.working === 0) await operator.failWorker({ name, incarnation }, options);
      return;
    }
    cursor = page.cursor ?? undefined;
  } while (cursor !== undefined);
}
