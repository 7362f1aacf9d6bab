import type { Evidence, Life } from "./evidence.ts";
import type { DeliveryTally } from "./deliveries-verdict.ts";
import type { FlowTally } from "./flows-verdict.ts";
import type { History } from "./history.ts";
import type { Tally } from "./verdict.ts";

/** A run in numbers. */
export interface Figures extends Tally {
  readonly flows: FlowTally;
  readonly toReceivers: DeliveryTally;
  readonly seconds: number;
  readonly processes: number;
  /** Tasks that were delivered by their enqueue. */
  readonly handedOver: number;
  /** By the role of the process. */
  readonly kills: Readonly<Record<string, number>>;
  readonly pauses: Readonly<Record<string, number>>;
  /** By what was done to requests, slots and partitions. */
  readonly faults: Readonly<Record<string, number>>;
  /** How often the raw keys were checked: while nothing moved, and at the end. */
  readonly looks: number;
  /** From a kill to the next completion of any task, ms. */
  readonly recoveryFromRedis: Recovery;
  readonly recoveryFromConsumer: Recovery;
}

export interface Recovery {
  readonly median: number;
  readonly worst: number;
}

/** How long it took after each of these until a task was completed again. */
export function recovery({ tasks }: History, kills: readonly number[]): Recovery {
  const completions = [...tasks.values()]
    .filter(({ state }) => state === "completed")
    .map(({ endedAt }) => endedAt)
    .toSorted((one, other) => one - other);
  const waits = kills
    .map((at) => (completions.find((completion) => completion > at) ?? Infinity) - at)
    .toSorted((one, other) => one - other);
  return { median: waits[Math.floor(waits.length / 2)] ?? 0, worst: waits.at(-1) ?? 0 };
}

/** The lives that a kill ended, of roles with such names. */
export function killed(evidence: Evidence, roles: RegExp): Life[] {
  return [...evidence.lives]
    .filter(([name, life]) => life.killed && roles.test(name))
    .map(([, life]) => life);
}

export function counted(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names.toSorted()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
