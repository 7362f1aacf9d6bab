import { checkedAt, invalidArgument } from "../../errors.ts";
import type { SchedulesPart } from "../../open/schedules/part.ts";
import { declaredOrder } from "../../open/in-order.ts";
import type { Order } from "../../open/order/index.ts";
import { encodePayload } from "../../kernel/record/codec.ts";
import type { DeclaredQueue } from "./define-queue.ts";

/**
 * Checks the recurrences and payloads of a declared queue's schedules. The schema of the queue, which may answer later,
 * checks payloads when they are applied.
 * @param part the code of schedules
 * @param order the code of the strict order, if it is on
 * @param at prefix of the paths in errors, such as `emails.`
 * @throws {SluiceError} `invalid_argument`, or `too_large`; its path begins with that of the schedule
 */
export function checkSchedules(
  queue: Pick<DeclaredQueue, "name" | "options" | "schedules" | "settings">,
  part: SchedulesPart,
  order: Order | undefined,
  at: string,
): void {
  const { schedules } = queue;
  for (const [name, schedule] of Object.entries(schedules)) {
    const path = `${at}schedules.${name}`;
    if (typeof schedule !== "object" || schedule === null) throw invalidArgument(path, "must be an object");
    order?.checkOrder(declaredOrder(queue), schedule, `${path}.`);
    const occurs = checkedAt(`${path}.`, () => {
      const occursFromNowOn = part.occurs(schedule);
      encodePayload(schedule.payload, "payload");
      return occursFromNowOn;
    });
    if (!occurs) throw invalidArgument(path, "must occur at least once from now on");
  }
}
