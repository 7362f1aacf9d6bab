import { checkedAt, invalidArgument } from "../../errors.ts";
import { calendarOf, checkedSchedule } from "../../features/schedules/index.ts";
import { checkOrder } from "./checked-order.ts";
import { encodePayload } from "../../kernel/record/codec.ts";
import type { DeclaredQueue } from "./define-queue.ts";

/**
 * Checks the recurrences and payloads of a declared queue's schedules. The schema of the queue, which may answer later,
 * checks payloads when they are applied.
 * @param at prefix of the paths in errors, such as `emails.`
 * @throws {SluiceError} `invalid_argument`, or `too_large`; its path begins with that of the schedule
 */
export function checkSchedules(
  queue: Pick<DeclaredQueue, "name" | "options" | "schedules" | "settings">,
  at: string,
): void {
  const { schedules } = queue;
  for (const [name, schedule] of Object.entries(schedules)) {
    const path = `${at}schedules.${name}`;
    if (typeof schedule !== "object" || schedule === null) throw invalidArgument(path, "must be an object");
    checkOrder(queue, schedule, `${path}.`);
    const occurs = checkedAt(`${path}.`, () => {
      const { recurrence } = checkedSchedule(schedule, "");
      encodePayload(schedule.payload, "payload");
      if ("every" in recurrence) return true;
      // In any time zone an expression has no time for the same reason, such as 31 February.
      return calendarOf({ ...recurrence, timeZone: "UTC" }).firstFrom(0) !== undefined;
    });
    if (!occurs) throw invalidArgument(path, "must occur at least once from now on");
  }
}
