import { Schedules as KernelSchedules } from "../../features/schedules/index.ts";
import type { QueueOrName } from "../definition.ts";
import { opened, type QueueBaseOptions, valuesOf } from "../options.ts";
import { operatedStore } from "../operated-store.ts";

/**
 * The schedules of a queue. The first sweep after each occurrence of a schedule enqueues its task, exactly
 * once even if several sweeps run. The task's id is `<name>.<epoch ms of the occurrence>`; if a task has that
 * id already, none is added. In a queue with partitions, the id of a task with a group also has a number in
 * braces. The task has the headers `schedule` (the name) and `scheduled-at` (the time, epoch ms).
 * @example
 * const schedules = new Schedules("reports", { transport: upstash(env) });
 * await schedules.put("daily", { cron: "0 6 * * *", timeZone: "Europe/Berlin", payload: { kind: "daily" } });
 */
export class Schedules<T = unknown> extends KernelSchedules<T> {
  /**
   * @param queue its name, or a queue that `defineQueue` made: its options are then the defaults of the tasks
   * @throws {SluiceError} `invalid_argument`
   */
  constructor(queue: QueueOrName<T, unknown>, options: QueueBaseOptions) {
    const own = opened(queue, options);
    const defaults = typeof queue === "string" ? {} : queue.options;
    super({ store: operatedStore(own), values: valuesOf(own), defaults });
  }
}
