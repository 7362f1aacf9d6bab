import { checkedAt, invalidArgument } from "../../errors.ts";
import { calendarOf, checkedSchedule } from "../../features/schedules/index.ts";
import { encodePayload } from "../../kernel/record/codec.ts";
import type { DeclaredQueue } from "./define-queue.ts";

/**
 * Checks the recurrences and payloads of a declared queue's schedules. The schema of the queue, which may answer later,
 * checks payloads when they are applied.
 * @param at prefix of the paths in errors, such as `emails.`
 * @throws {SluiceError} `invalid_argument`, or `too_large`; its path begins with that of the schedule
 */
export function checkSchedules({ schedules }: Pick<DeclaredQueue, "schedules">, at: string): void {
  for (const [name, schedule] of Object.entries(schedules)) {
    const path = `${at}schedules.${name}`;
    if (typeof schedule !== "object" || schedule === null) throw invalidArgument(path, "must be an object");
    checkedAt(`${path}.`, () => {
      const { recurrence } = checkedSchedule(schedule, "");
      if ("cron" in recurrence) calendarOf(recurrence);
      encodePayload(schedule.payload, "payload");
    });
  }
}
