/**
 * Strict order within the groups of a queue with partitions. Which partition has the turn of a group is not predicted:
 * that one task at a time is worked on, and in which order tasks begin, is.
 */
import type { ModelTask } from "../state.ts";
import type { Observation } from "./observation.ts";
import { must, type PartitionsState } from "./state.ts";

/** @throws if a task of a group in strict order must not be delivered yet */
export function mustBeItsTurn(state: PartitionsState, task: ModelTask): void {
  const { partitions, places, late } = state;
  const { id, group } = task;
  const others = state.live().filter((other) => other !== task && other.group === group);
  const begun = others.find(({ attempt }) => attempt > 0);
  must(!begun, `${id} of group ${group} was delivered, and ${begun?.id} has begun and not ended`);
  if (task.attempt > 0) return;
  const place = places.get(id);
  for (const other of others) {
    // One that falls due in a former partition may go before those that wait in the one that owns the slot.
    const isComparable =
      partitions.get(id) === partitions.get(other.id) || (!late.has(id) && !late.has(other.id));
    const isEarlier = place !== undefined && (places.get(other.id) ?? place) < place;
    must(
      other.state !== "pending" || !isComparable || !isEarlier,
      `${id} of group ${group} was delivered, and the earlier ${other.id} waits`,
    );
  }
}

/** Whether a ready task is the one that its group offers. */
export function isOffered(
  { partitions }: PartitionsState,
  task: ModelTask,
  { spaces }: Observation,
): boolean {
  if (task.group === undefined || task.state === "working") return true;
  if (task.state === "delayed") return task.attempt > 0;
  return spaces[partitions.get(task.id) as number]?.fair.has(task.id) ?? false;
}

/** What the end of a run has left of lines and of changes that waited for them. */
export function leftOfLines({ map, spaces }: Observation): string[] {
  const lines = spaces.flatMap(({ tasks }, partition) =>
    [...tasks].flatMap(([field, text]) =>
      field.startsWith("~o:") ? [`partition ${partition}: ${field} ${text}`] : [],
    ),
  );
  return [...(map.next ? ["a change of the partitions"] : []), ...lines];
}
