/** What an alarm is for: `wake` the consumer of a queue, or `sweep` the queue, because a schedule is due. */
export type AlarmKind = "wake" | "sweep";

/**
 * The alarms of a deployment. When one rings, the deployment handles it by `Service.ring`. It is no loss if one
 * rings twice, early or not at all: Redis decides what is due, and cron finds the rest.
 */
export interface Alarms {
  /**
   * Sets an alarm. Of several for the same queue and kind, only the earliest rings.
   * @param after the time from now, ms
   */
  set(kind: AlarmKind, queue: string, after: number): unknown;
}
