import type { EnqueueOptions, LeasedTask, Queue } from "../../src/index.ts";
import { many } from "./new-tasks.ts";
import { key, type Rig } from "./rig.ts";

/** Dequeues one by one, completing each, and returns the tasks in the order of delivery. */
export async function delivered(queue: Queue, count = Number.POSITIVE_INFINITY): Promise<LeasedTask[]> {
  const tasks: LeasedTask[] = [];
  while (tasks.length < count) {
    const [task] = await queue.dequeue();
    if (!task) break;
    tasks.push(task);
    await task.complete();
  }
  return tasks;
}

/** The same, and returns their groups. */
export const deliveries = async (queue: Queue, count?: number): Promise<string[]> =>
  (await delivered(queue, count)).map(({ group }) => group ?? "");

export const ofGroup = (group: string | undefined, count: number, options: EnqueueOptions = {}) =>
  many(count, { group, ...options });

export const timesOf = (groups: readonly string[], group: string) =>
  groups.filter((other) => other === group).length;

/** Writes a group's settings directly to Redis, in the form that lua/README.md describes. */
export const groupSettings = (rig: Rig) => async (group: string, settings: string) =>
  rig.command("HSET", key("tasks"), `~s:${group}`, `1;${settings}`);
