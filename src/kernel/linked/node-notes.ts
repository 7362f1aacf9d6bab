/** Notes in the registry of which partitions have nodes of flows, for sweeps. */
import type { Shard } from "../shard.ts";
import type { Command } from "../transport.ts";

/** What the names of notes begin with that say that a partition has nodes of flows. */
const NOTE = "~^";

/** Scores of such notes are later than any instant: sweeps take no note for a reminder that is due. */
const NEVER = 8_640_000_000_000_001;

/** The name of the note of a partition. */
export const noteOf = (name: string) => NOTE + name;

/** The command that notes in the registry that a partition gets nodes of flows. It goes in front of them. */
export function noteNodes({ keys, name }: Shard): Command {
  // Another score each time, by which `forgetNodes` removes only the note that it has seen.
  const score = NEVER + Math.floor(Math.random() * 1e14);
  return ["ZADD", keys.queues, String(score), noteOf(name)];
}

/** The partitions that are noted among the reminders of a page of the registry, with the scores of their notes. */
export const notedNodes = (reminders: readonly { readonly queue: string; readonly at: number }[]) =>
  reminders
    .filter(({ queue }) => queue.startsWith("^"))
    .map(({ queue, at }) => ({ name: queue.slice(1), at }));

/** The command that removes a note, unless it was written again. */
export const forgetNodes = ({ keys }: Shard, at: number): Command => [
  "ZREMRANGEBYSCORE",
  keys.queues,
  String(at),
  String(at),
];
