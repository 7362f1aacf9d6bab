import { SluiceError } from "../errors.ts";
import { checkedSchedule } from "../queue/schedules/new-schedule.ts";
import type { DeclaredQueue } from "./define-queue.ts";

/**
 * Checks the recurrences of a declared queue's schedules.
 * @param at prefix of the paths in errors, such as `emails.`
 * @throws {SluiceError} `invalid_argument`; its path begins with that of the schedule
 */
export function checkSchedules({ schedules }: Pick<DeclaredQueue, "schedules">, at: string): void {
  for (const [name, schedule] of Object.entries(schedules)) {
    try {
      checkedSchedule(schedule);
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error;
      const path = `${at}schedules.${name}.`;
      throw new SluiceError(error.code, path + error.message, path + (error.path ?? ""));
    }
  }
}
