/** What flows that have ended leave in Redis. */
import { type KeySpace, zsetIn } from "./key-space.ts";
import { partitionSpaces } from "./partition-spaces.ts";

/** The score of members of the outbox, and of blocked tasks. */
const NEVER = 4_503_599_627_370_495;

/** Partitions that the registry notes as having nodes of flows. */
export const notedPartitions = (members: Iterable<string>) =>
  [...members].filter((name) => name.startsWith("~^"));

/** Fields of flows, and of their nodes. */
const OF_FLOWS = /^~[Fpx]:|\{.+@.+\}$/;

/** What is still there of flows once no record may be kept any more. */
export function remainsOfFlows(space: KeySpace, queues: readonly string[]): string[] {
  return queues.flatMap((queue) =>
    [...partitionSpaces(space, queue)].flatMap(([partition, own]) =>
      [own.tasks, own.expiry, own.dead, own.delayed, own.working]
        .flatMap((all) => [...all.keys()])
        .filter((name) => OF_FLOWS.test(name))
        .map((name) => `${queue}/${partition} still has ${name} after its time`),
    ),
  );
}

/**
 * What should not be there once all flows have ended.
 * @param at an instant (epoch ms): no record is kept for longer. @default any
 */
export function leftOfFlows(space: KeySpace, queues: readonly string[], at = Infinity): string[] {
  const noted = notedPartitions(zsetIn(space, "sluice:queues").keys());
  const found = noted.map((name) => `the registry still has ${name}`);
  for (const queue of queues) {
    for (const [partition, { tasks, delayed, expiry }] of partitionSpaces(space, queue)) {
      const place = `${queue}/${partition}`;
      const nodes = tasks.get("~nodes") ?? "0";
      if (nodes !== "0") found.push(`${place} counts ${nodes} nodes that have not ended`);
      for (const [id, due] of delayed) if (due >= NEVER) found.push(`${place} still has ${id} blocked`);
      for (const [member, until] of expiry) {
        if (until === NEVER) found.push(`${place} still has ${member} in its outbox`);
        else if (until > at) found.push(`${place} keeps ${member} until ${until}`);
      }
      for (const field of tasks.keys()) {
        const isKept = field.startsWith("~p:") ? tasks.has(`.${field.slice(3)}`) : expiry.has(field);
        if (/^~[Fpx]:/.test(field) && !isKept) found.push(`${place} keeps ${field} for ever`);
      }
    }
  }
  return found;
}
