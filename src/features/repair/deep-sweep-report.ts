import type { Fault } from "../../kernel/errors/faults.ts";
import { readShardName } from "../../kernel/names/keys.ts";
import type { Findings } from "../../sweep/deep-part.ts";

/** One kind of fault that was found in one queue, or one of its partitions, and repaired. */
export interface FaultReport {
  readonly queue: string;
  /** The partition; absent for partition 0, and for a queue without partitions. */
  readonly partition?: number | undefined;
  readonly fault: Fault;
  readonly count: number;
  /** Examples: ids of tasks, or names of groups, workers, schedules or control fields. */
  readonly ids: readonly string[];
}

export interface DeepSweepReport {
  /** How many queues were checked to the end; of one with partitions, at least one of them. */
  readonly queues: number;
  /** How many entries were checked. A task counts once for each key that holds it. */
  readonly entries: number;
  /** Empty if everything is valid. */
  readonly faults: readonly FaultReport[];
  /** Queues that could not be checked to the end, each with the code of the error. */
  readonly failed: readonly {
    readonly queue: string;
    readonly partition?: number | undefined;
    readonly code: string;
  }[];
  /** Continues from here with the option `cursor`; null if everything has been checked. */
  readonly cursor: string | null;
}

/** A queue and its partition, as a report has them. */
export function placeOf(name: string): { queue: string; partition?: number } {
  const { queue, place } = readShardName(name);
  return place === 0 ? { queue } : { queue, partition: place };
}

export class Report {
  begun = 0;
  /** Queues of which partitions were checked to the end. */
  readonly checked = new Set<string>();
  readonly failed: { queue: string; partition?: number; code: string }[] = [];
  readonly #examples: number;
  readonly #faults = new Map<string, FaultReport & { count: number; ids: string[] }>();
  #entries = 0;

  constructor(examples: number) {
    this.#examples = examples;
  }

  begin(queue: string): Findings {
    this.begun++;
    return {
      checked: (entries) => (this.#entries += entries),
      found: (fault, id) => {
        const known = this.#faults.get(`${queue} ${fault}`) ?? {
          ...placeOf(queue),
          fault,
          count: 0,
          ids: [],
        };
        this.#faults.set(`${queue} ${fault}`, known);
        known.count++;
        const shown = printable(id);
        if (known.ids.length < this.#examples && !known.ids.includes(shown)) known.ids.push(shown);
      },
    };
  }

  done(cursor: string | null): DeepSweepReport {
    const { checked, failed } = this;
    return {
      queues: checked.size,
      entries: this.#entries,
      faults: [...this.#faults.values()],
      failed,
      cursor,
    };
  }
}

/** The visible form of an id: a broken key may hold any bytes in place of one. */
function printable(id: string): string {
  return id.slice(0, 140).replace(/[^ -~]/g, "?");
}
