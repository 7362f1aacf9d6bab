import { invalidArgument } from "../../errors.ts";
import { newTaskId } from "../../kernel/names/ids.ts";
import { placeSuffix, slotOf, slotTextOf, tagOf } from "../../kernel/names/slots.ts";
import type { Draft } from "../../kernel/store.ts";
import { owning, type PartitionMap } from "./map.ts";

/** After how many tasks without a slot a producer goes on to the next partition. */
const TASKS_PER_PARTITION = 100;

/** For how long all producers begin with the same partition, ms. */
const PERIOD = 600_000;

/** How long a partition counts as full after it has refused tasks, ms. */
const FULL_FOR = 10_000;

/**
 * Chooses partitions for new tasks that have no slot. Producers that add few tasks all add them to the same
 * partition, so that the others are idle. One that adds many goes on to the next partition from time to time.
 */
export class NewTaskPlacement {
  readonly #isDown: (partition: number) => boolean;
  /** For how many tasks a partition last had no room, and when that was, by this instance's clock. */
  readonly #full = new Map<number, { readonly count: number; readonly at: number }>();
  #period = 0;
  #turn = 0;
  #left = 0;

  /** @param isDown whether the database of a partition could not be reached a short time ago */
  constructor(isDown: (partition: number) => boolean) {
    this.#isDown = isDown;
  }

  /**
   * What makes the ids of the tasks of one call. Those without a slot go to one partition. One that is down or full
   * gets tasks only if all are.
   */
  newIds(count: number, map: PartitionMap): (slot: number | undefined) => string {
    let partition: number | undefined;
    return (slot) => {
      if (slot !== undefined) return newTaskId() + tagOf(slot);
      return newTaskId() + placeSuffix((partition ??= this.#partitionFor(count, map)));
    };
  }

  /** Takes note that a partition had no room for so many tasks, because its share of `maxPending` is used up. */
  noteFull(partition: number, count: number): void {
    this.#full.set(partition, { count, at: Date.now() });
  }

  /** The partitions that take new tasks, and may have room for so many of them. */
  open(count: number, map: PartitionMap): number[] {
    return owning(map).filter((partition) => {
      const full = this.#full.get(partition);
      const age = full && full.count <= count ? Date.now() - full.at : -1;
      return !(age >= 0 && age < FULL_FOR) && !this.#isDown(partition);
    });
  }

  #partitionFor(count: number, map: PartitionMap): number {
    const open = this.open(count, map);
    const partitions = open.length > 0 ? open : owning(map);
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
}

type PlacedTask = Pick<Draft, "id" | "group" | "dedup">;

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
