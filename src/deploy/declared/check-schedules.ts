import { checkedAt, invalidArgument } from "../../errors.ts";
import { checkedSchedule } from "../../features/schedules/index.ts";
import type { DeclaredQueue } from "./define-queue.ts";

/**
 * Checks the recurrences of a declared queue's schedules.
 * @param at prefix of the paths in errors, such as `emails.`
 * @throws {SluiceError} `invalid_argument`; its path begins with that of the schedule
 */
export function checkSchedules({ schedules }: Pick<DeclaredQueue, "schedules">, at: string): void {
  for (const [name, schedule] of Object.entries(schedules)) {
    const path = `${at}schedules.${name}`;
    if (typeof schedule !== "object" || schedule === null) throw invalidArgument(path, "must be an object");
    checkedAt(`${path}.`, () => checkedSchedule(schedule, ""));
  }
}
