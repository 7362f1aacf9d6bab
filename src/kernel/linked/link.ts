/** Where the partitions of flows are. */
import { readShardName } from "../names/keys.ts";
import type { QueueRef } from "../queue-ref.ts";
import { Shard } from "../shard.ts";
import type { SendOptions } from "../transport.ts";

/** What is called for tasks that become ready because others have ended. */
export interface ForReleased {
  /** How long a wake counts, ms, as the scripts take it; empty for a queue whose consumer is not woken. */
  wakeWindow(queue: string): string;
  /** Wakes the consumer of a queue. Never throws. */
  ready(queue: string): unknown;
}

/** Where partitions are. */
export interface Link extends Omit<QueueRef, "name"> {
  /** @default consumers are not woken */
  readonly released?: ForReleased | undefined;
  /** Ends what waits for a queue that was deleted, as a member of its outbox says. @default it is left to a sweep */
  readonly endLost?: ((member: string, options: SendOptions) => Promise<void>) | undefined;
}

/** A partition by its name in the registry, such as `emails` or `emails/3`. */
export function shardNamed(link: Link, name: string): Shard {
  const { queue, place } = readShardName(name);
  return new Shard({ ...link, name: queue }, place, name);
}
