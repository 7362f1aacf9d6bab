import { invalidArgument } from "../../errors.ts";
import { newTaskId } from "../core/ids.ts";
import { partitionSuffix, slotOf, tagOf } from "../core/partition-slots.ts";
import type { EnqueueOptions } from "../core/types.ts";
import { owning, type PartitionMap } from "./map.ts";

/** After how many tasks without a slot a producer goes on to the next partition. */
const TASKS_PER_PARTITION = 100;

/** For how long all producers begin with the same partition, ms. */
const PERIOD = 600_000;

/**
 * Chooses partitions for new tasks that have no slot. Producers that add few tasks all add them to the same
 * partition, so that the others are idle. One that adds many goes on to the next partition from time to time.
 */
export class NewTaskPlacement {
  #period = 0;
  #turn = 0;
  #left = 0;

  #partitionFor(count: number, map: PartitionMap, shuns: (partition: number) => boolean): number {
    const owners = owning(map);
    const open = owners.filter((partition) => !shuns(partition));
    const partitions = open.length > 0 ? open : owners;
    const period = Math.floor(Date.now() / PERIOD);
    if (period !== this.#period)
      [this.#period, this.#turn, this.#left] = [period, period, TASKS_PER_PARTITION];
    if (this.#left < count) {
      this.#turn++;
      this.#left = Math.max(count, TASKS_PER_PARTITION);
    }
    this.#left -= count;
    return partitions[this.#turn % partitions.length] as number;
  }

  /**
   * Where the tasks of one call go. Those without a slot go to one partition.
   * @param shuns whether a partition is down or full: it gets tasks only if all are
   */
  placing(count: number, map: PartitionMap, shuns: (partition: number) => boolean) {
    let partition: number | undefined;
    return {
      slotOf: slotOfTask,
      newId: (slot: number | undefined) => {
        if (slot !== undefined) return newTaskId() + tagOf(slot);
        return newTaskId() + partitionSuffix((partition ??= this.#partitionFor(count, map, shuns)));
      },
      endOf: tagOf,
    };
  }
}

/**
 * The slot of a task: that of its group, its id or its dedup key; undefined if it has none of them. What it has
 * must be in one slot, so that one partition decides over it.
 * @param at what errors put before the names of options
 * @throws {SluiceError} `invalid_argument`
 */
export function slotOfTask(
  { id, group, dedup }: Pick<EnqueueOptions, "id" | "group" | "dedup">,
  at: string,
): number | undefined {
  const first = group ?? id ?? dedup?.key;
  if (first === undefined) return undefined;
  const slot = slotOf(first);
  for (const [path, text] of [["id", id] as const, ["dedup.key", dedup?.key] as const]) {
    if (text === undefined || slotOf(text) === slot) continue;
    const [what, example] = group === undefined ? ["id", first] : ["group", first];
    throw invalidArgument(
      `${at}${path}`,
      `must have the ${what} of the task in braces, such as "${text}{${example}}": in a queue with partitions ` +
        "both are then in the same partition",
    );
  }
  return slot;
}
