import type { Transport } from "../kernel/transport.ts";
import type { CurrentSweep, PartOfSweep, SweepPart } from "../sweep/part.ts";
import type { RegistryPage } from "../sweep/registry.ts";
import { type SweepOptions, type SweepReport, sweepWith } from "./sweep-with.ts";

/**
 * Sweeps every registered queue: promotes due tasks, reclaims expired leases, removes expired records, and
 * enqueues due occurrences of schedules. One request sweeps up to 50 queues. Any number of sweeps may run at
 * the same time.
 * @param transport how to reach Redis, such as `upstash(env)`
 * @param options by default all queues, for 20 s
 * @returns the counts; `more` is true if work is left
 * @throws {SluiceError} `invalid_argument`, or if Redis cannot be reached. A fault of one queue is in the
 *   report instead
 * @example
 * // From a cron trigger, each minute.
 * const { promoted, reclaimed, more } = await sweep(upstash(env), { budget: "20s" });
 */
export function sweep(transport: Transport, options: SweepOptions = {}): Promise<SweepReport> {
  const schedules = onDemand(
    ({ reminders, now }, { isWanted }) => reminders.some(({ queue, at }) => at <= now && isWanted(queue)),
    async () => (await import("./sweep-parts.ts")).schedulesPart,
  );
  const partitions = onDemand(
    ({ queues, divided }, { marked }) =>
      divided.length > 0 || marked.size > 0 || queues.some(({ name }) => name.includes("/")),
    async () => (await import("./sweep-parts.ts")).partitionsPart,
  );
  return sweepWith([schedules, partitions], transport, options);
}

/** A part that is loaded at the first page of the registry for which it is needed. */
function onDemand(
  isNeeded: (page: RegistryPage, sweep: CurrentSweep) => boolean,
  load: () => Promise<SweepPart>,
): SweepPart {
  return (sweep) => {
    let part: PartOfSweep | undefined;
    const partFor = async (page: RegistryPage) => {
      if (!part && isNeeded(page, sweep)) part = (await load())(sweep);
      return part;
    };
    return {
      before: async (page) => (await partFor(page))?.before?.(page) ?? new Set(),
      notesOf: (empty) => part?.notesOf?.(empty) ?? [],
      after: async (page) => (await partFor(page))?.after?.(page),
      finish: async () => part?.finish?.() ?? {},
    };
  };
}
