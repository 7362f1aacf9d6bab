import type { EnqueueOptions, Queue } from "../../src/index.ts";
import { many } from "./new-tasks.ts";
import { key, type Rig } from "./rig.ts";

/** Dequeues one by one, completing each, and returns their groups in the order of delivery. */
export async function deliveries(queue: Queue, count = Number.POSITIVE_INFINITY): Promise<string[]> {
  const groups: string[] = [];
  while (groups.length < count) {
    const [task] = await queue.dequeue();
    if (!task) break;
    groups.push(task.group ?? "");
    await task.complete();
  }
  return groups;
}

export const ofGroup = (group: string | undefined, count: number, options: EnqueueOptions = {}) =>
  many(count, { group, ...options });

export const timesOf = (groups: readonly string[], group: string) =>
  groups.filter((other) => other === group).length;

/** Writes a group's settings directly to Redis, in the form that lua/README.md describes. */
export const groupSettings = (rig: Rig) => async (group: string, settings: string) =>
  rig.command("HSET", key("tasks"), `~s:${group}`, `1;${settings}`);
