/** Notifies nodes what has become of those that they wait for. */
import { commandCall, exchange, run } from "../call.ts";
import { readShardName } from "../names/keys.ts";
import { groupedBy, slicesOf } from "../slices.ts";
import type { Command, SendOptions } from "../transport.ts";
import type { Failures } from "./failures.ts";
import { flowOf, layoutField, nodeId } from "./flow-names.ts";
import { type Link, shardNamed } from "./link.ts";
import { notifyScript, type OutboxEntry } from "./link-scripts.ts";

/** How many nodes one call notifies. */
const PER_CALL = 200;

/** An entry, and the partition that has it. */
export interface Open {
  readonly from: string;
  readonly entry: OutboxEntry;
}

/** One thing to notify a node. */
interface Change {
  readonly id: string;
  readonly edge: string;
  readonly outcome: string;
  readonly because: string;
}

/** The nodes that an entry says are to be notified, by their partitions; and the home of the flow. */
function followersOf({ from, entry }: Open) {
  const flow = flowOf(entry.member);
  const [own = "", ...others] = entry.followers.split(" ");
  // In the home of the flow its name is not among them.
  const home = others.length % 2 === 1 ? (others.pop() as string) : from;
  const lists = [
    [from, own] as const,
    ...slicesOf(others, 2).map(([to = "", list = ""]) => [to, list] as const),
  ];
  const { outcome, because } = entry;
  const changes = lists.flatMap(([to, list]) =>
    (list === "" ? [] : list.split(",")).map((text) => {
      const [number = "", edge = ""] = text.split(".");
      const change: Change = { id: nodeId(flow, number), edge, outcome, because };
      return { to, change };
    }),
  );
  return { flow, home, changes };
}

/**
 * Notifies the followers of nodes, in one request.
 * @param first commands that go in front
 * @returns what other partitions have left to be notified because of it, and the entries that are not done
 */
export async function notifyAll(
  link: Link,
  entries: readonly Open[],
  first: readonly Command[],
  options: SendOptions,
  failures: Failures,
): Promise<{ readonly more: readonly Open[]; readonly unsent: ReadonlySet<Open> }> {
  const all = entries.map((open) => ({ open, ...followersOf(open) }));
  const changes = all.flatMap(({ open, flow, home, changes: own }) =>
    own.map((one) => ({ ...one, open, flow, home })),
  );
  const slices = Array.from(
    groupedBy(changes, ({ to }) => to),
    ([to, own]) => slicesOf(own, PER_CALL).map((slice) => ({ to, slice })),
  ).flat();
  const removals = first.map((command) => commandCall(command, () => undefined));
  const calls = slices.map(({ to, slice }) =>
    shardNamed(link, to).call(
      notifyScript,
      { wake: link.released?.wakeWindow(readShardName(to).queue) ?? "" },
      slice.map(({ change }) => change),
    ),
  );
  if (removals.length + calls.length === 0) return { more: [], unsent: new Set() };
  const sent = await failures.of(() => exchange(link.transport, [...removals, ...calls], options));
  const more: Open[] = [];
  const unsent = new Set<Open>();
  const toWake = new Set<string>();
  const known = new Map<string, boolean>();
  for (const [i, { to, slice }] of slices.entries()) {
    const reply = await failures.of(() => sent?.[removals.length + i]?.() || undefined);
    if (!reply) {
      for (const { open } of slice) unsent.add(open);
      continue;
    }
    if (reply.wake) toWake.add(readShardName(to).queue);
    more.push(...reply.outbox.map((entry) => ({ from: to, entry })));
    if (reply.unknown === 0) continue;
    // Their piece may not have been added yet.
    for (const { open, flow, home } of slice) {
      const isKnown = known.get(flow) ?? (await failures.of(() => exists(link, home, flow, options))) ?? true;
      known.set(flow, isKnown);
      if (isKnown) unsent.add(open);
    }
  }
  await Promise.all(Array.from(toWake, (queue) => link.released?.ready(queue)));
  return { more, unsent };
}

/** Whether a flow has not ended, so that its nodes may still be added. */
async function exists(link: Link, home: string, flow: string, options: SendOptions): Promise<boolean> {
  const { tasks } = shardNamed(link, home).keys;
  const call = commandCall(["HEXISTS", tasks, layoutField(flow)], (reply) => reply === 1);
  return run(link.transport, call, options);
}
