import { SluiceError } from "../../errors.ts";
import type { NewSchedule } from "../../features/schedules/index.ts";
import type { SweepPart } from "../../sweep/part.ts";
import type { QueueOrName } from "../definition.ts";
import type { QueueBaseOptions } from "../options.ts";
import type { Schedules } from "./schedules.ts";

/** The code of schedules, to turn them on. */
export interface SchedulesPart {
  /** Opens the schedules of a queue. */
  readonly open: <T>(queue: QueueOrName<T, unknown>, options: QueueBaseOptions) => Schedules<T>;
  /** In sweeps, adds the tasks of schedules that are due. */
  readonly sweepPart: SweepPart;
  /**
   * Checks a schedule, except its payload.
   * @returns whether it occurs from now on
   * @throws {SluiceError} `invalid_argument`
   */
  readonly occurs: (schedule: NewSchedule<unknown>) => boolean;
}

/** The code of schedules that is given, for a call that needs it. */
export function requireSchedules(part: SchedulesPart | undefined): SchedulesPart {
  if (part) return part;
  throw new SluiceError(
    "unsupported",
    'schedules need the option schedules: import { schedules } from "sluice-queue/schedules"',
  );
}

/** In sweeps without schedules: a queue whose schedules are due has failed. */
export const schedulesMissing: SweepPart = ({ isWanted, failedParts }) => ({
  async before({ reminders, now }) {
    for (const { queue, at } of reminders)
      if (at <= now && isWanted(queue)) failedParts.set(queue, "unsupported");
    return new Set();
  },
});
