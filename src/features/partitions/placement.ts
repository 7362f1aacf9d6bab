import { invalidArgument } from "../../errors.ts";
import type { Draft } from "../../kernel/store.ts";
import { newTaskId } from "../../kernel/names/ids.ts";
import { placeSuffix, slotOf, slotTextOf, tagOf } from "../../kernel/names/slots.ts";

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
        return newTaskId() + placeSuffix((partition ??= this.#partitionFor(count, map, shuns)));
      },
    };
  }
}

/**
 * What decides in which slot a task is; undefined if any partition may have it. What must be unique comes first, so
 * that one partition decides whether it is known: the id of the caller, or the dedup key. Then the group, whose order
 * and limits one partition keeps.
 */
export function placedBy({ id, group, dedup }: PlacedTask): string | undefined {
  return id ?? dedup?.key ?? group;
}

/**
 * The slot of a task; undefined if any partition may have it.
 * @param at what errors put before the names of options
 * @throws {SluiceError} `invalid_argument` if the id and the dedup key are in different slots
 */
export function slotOfTask(task: PlacedTask, at: string): number | undefined {
  const text = placedBy(task);
  if (text === undefined) return undefined;
  const slot = slotOf(text);
  const { id, dedup } = task;
  if (id !== undefined && dedup && slotOf(dedup.key) !== slot) {
    const inBraces = slotTextOf(id);
    throw invalidArgument(
      `${at}dedup.key`,
      `must have ${inBraces === id ? "the id of the task" : "what the id has"} in braces, such as ` +
        `"${dedup.key.replaceAll(/[{}]/g, "")}{${inBraces}}": in a queue with partitions both are then in the same ` +
        "partition",
    );
  }
  return slot;
}

type PlacedTask = Pick<Draft, "id" | "group"> & { readonly dedup?: { readonly key: string } | undefined };
