/** Empties the outboxes of partitions: notifies other partitions what has become of the tasks of a flow. */
import { commandCall, run, runAll } from "../call.ts";
import { readShardName } from "../names/keys.ts";
import { replyOf } from "../scripts/replies.ts";
import type { Shard } from "../shard.ts";
import { groupedBy } from "../slices.ts";
import type { Command, SendOptions } from "../transport.ts";
import { cancelMember, type CancelMode, cancelNodes, markCall, readCancelMember } from "./cancel-nodes.ts";
import { endFlow } from "./end-flow.ts";
import { Failures } from "./failures.ts";
import { readLayout } from "./flow-layout.ts";
import { NEVER_DUE, flowOf } from "./flow-names.ts";
import { type Link, shardNamed } from "./link.ts";
import { type OutboxEntry, readOutboxScript } from "./link-scripts.ts";
import { pieceCall, readPiece } from "./node-pieces.ts";
import { notifyAll, type Open } from "./notify-nodes.ts";

/** Entries that one call reads, and rounds of one run: what is left is for the next sweep. */
const ENTRIES = 100;
const MAX_ROUNDS = 1_000;

/**
 * Reads the outbox of a partition, and empties it. What cannot be done now, such as what another database needs that
 * cannot be reached, stays and does not keep the rest from being done.
 * @returns whether it is empty, and all nodes of flows there have ended
 * @throws {SluiceError} for the first of what has failed, when all else is done
 */
export async function emptyOutbox(link: Link, name: string, options: SendOptions = {}): Promise<boolean> {
  const shard = shardNamed(link, name);
  const failures = new Failures();
  let skip = 0;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const call = shard.call(readOutboxScript, { size: String(ENTRIES), skip: String(skip) });
    const { nodes, entries } = await run(link.transport, call, options);
    if (entries.length === 0) {
      failures.throwFirst();
      return nodes === 0 && skip === 0;
    }
    skip += (await sendEntries(link, name, entries, options, failures)).left;
  }
  failures.throwFirst();
  return false;
}

/**
 * Notifies what a partition has left to be notified, and all that follows from it.
 * @returns whether all of it was done. The rest stays in the outbox
 * @throws {SluiceError} for the first of what has failed, when all else is done
 */
export async function sendOutbox(
  link: Link,
  name: string,
  entries: readonly OutboxEntry[],
  options: SendOptions = {},
): Promise<boolean> {
  const failures = new Failures();
  const { isDone } = await sendEntries(link, name, entries, options, failures);
  failures.throwFirst();
  return isDone;
}

/** @returns how many of the entries are left, and whether all that follows from them was done, too */
async function sendEntries(
  link: Link,
  name: string,
  entries: readonly OutboxEntry[],
  options: SendOptions,
  failures: Failures,
): Promise<{ readonly left: number; readonly isDone: boolean }> {
  let isDone = true;
  let left = entries.length;
  const given = new Set(entries);
  // The nodes of a partition are added in their order.
  const waiting = new Set<string>();
  let open: readonly Open[] = entries.map((entry) => ({ from: name, entry }));
  let removals: Command[] = [];
  const failed: Open[] = [];
  const lost: Open[] = [];
  while (open.length > 0) {
    const done: Open[] = [];
    // Tasks first, in their order: others may wait for them.
    for (const { from, entry } of open.filter(isField)) {
      const to = targetOf(entry.member);
      if (waiting.has(to)) continue;
      if (await failures.of(() => sendPiece(link, from, entry.member, options))) done.push({ from, entry });
      else waiting.add(to);
    }
    failed.push(...open.filter(({ entry }) => entry.kind === "cancel"));
    lost.push(...open.filter(({ entry }) => entry.kind === "lost"));
    const nodes = open.filter(({ entry }) => entry.kind === "node");
    for (const one of nodes) {
      const { member, outcome, followers } = one.entry;
      if (followers !== " -") continue;
      const end = async () => {
        await endFlow(link, one.from, flowOf(member), outcome as "completed" | "failed" | "open", options);
        return true;
      };
      if (await failures.of(end)) done.push(one);
      else isDone = false;
    }
    const notified = nodes.filter(({ entry }) => entry.followers !== " -");
    const { more, unsent } = await notifyAll(link, notified, removals, options, failures);
    done.push(...notified.filter((one) => !unsent.has(one)));
    if (unsent.size + waiting.size > 0) isDone = false;
    left -= done.filter(({ entry }) => given.has(entry)).length;
    const changed = await endedSince(link, done, options, failures);
    if (changed.size > 0) isDone = false;
    removals = Array.from(groupedBy(done, ({ from }) => from)).flatMap(([from, own]) => {
      const shard = shardNamed(link, from);
      const over = own.filter((one) => !changed.has(one)).map(({ entry }) => entry);
      const again = own.filter((one) => changed.has(one)).flatMap(({ entry }) => [NEVER_DUE, entry.member]);
      return [
        ...removeEntries(shard, over),
        ...(again.length > 0 ? [["ZADD", shard.keys.expiry, ...again] as const] : []),
      ];
    });
    open = more;
  }
  if (removals.length > 0)
    for (const outcome of await link.transport.send(removals, options)) replyOf(outcome);
  // What waits for a task that has failed falls before all others are cancelled.
  for (const one of [...lost, ...failed]) {
    if (!(await failures.of(() => endAll(link, one.entry, options)))) {
      isDone = false;
      continue;
    }
    await link.transport.send(removeEntries(shardNamed(link, one.from), [one.entry]), options);
    if (given.has(one.entry)) left--;
  }
  return { left, isDone };
}

/** Ends what waits for a queue that was deleted, or the tasks of a flow that is cancelled. Returns whether all of it was done. */
async function endAll(link: Link, { kind, member }: OutboxEntry, options: SendOptions): Promise<boolean> {
  if (kind === "lost") {
    await link.endLost?.(member, options);
    return link.endLost !== undefined;
  }
  const { flow, mode, home } = readCancelMember(member);
  return (await cancelFlow(link, home, flow, mode, options))?.isDone !== false;
}

/** What the changing record of a node that has ended begins with. */
const ENDED = /^\d+;\d+;\d*;\d+;\d+;[crx];/;

/**
 * The entries of nodes that were alive again, and have ended since: others may have heard of the end before that. They are
 * put out again, so that it is notified once more.
 */
async function endedSince(
  link: Link,
  entries: readonly Open[],
  options: SendOptions,
  failures: Failures,
): Promise<ReadonlySet<Open>> {
  const others = new Set(
    entries.flatMap(({ from, entry }) => (entry.outcome === "open" ? [] : [`${from} ${entry.member}`])),
  );
  const open = entries.filter(
    ({ from, entry }) => entry.outcome === "open" && !others.has(`${from} ${entry.member}`),
  );
  if (open.length === 0) return new Set();
  const own = groupedBy(open, ({ from }) => from);
  const reads = Array.from(own, ([from, its]) => {
    const fields = its.map(({ entry }) => `.${entry.member.slice("~x:".length)}`);
    const command = ["HMGET", shardNamed(link, from).keys.tasks, ...fields] as const;
    return commandCall(command, (reply) => reply as readonly (string | null)[]);
  });
  const read = await failures.of(() => runAll(link.transport, reads, options));
  const records = read?.flat();
  // What cannot be read stays too.
  return new Set([...own.values()].flat().filter((_, i) => !records || ENDED.test(records[i] ?? "")));
}

/**
 * Cancels the tasks of a flow. If this fails on the way, a sweep continues.
 * @param home the name in the registry of its home
 * @returns undefined if the flow is not known
 * @throws {SluiceError}
 */
export async function cancelFlow(
  link: Link,
  home: string,
  flow: string,
  mode: CancelMode,
  options: SendOptions = {},
): Promise<{ cancelled: number; flagged: number; isDone: boolean } | undefined> {
  const shard = shardNamed(link, home);
  const layout = await readLayout(shard, flow, options);
  if (!layout) return undefined;
  await run(link.transport, markCall(shard, flow, mode), options);
  const { more, unknown, ...sum } = await cancelNodes(layout, mode, (of) => shardNamed(link, of), options);
  let isDone = unknown === 0;
  for (const { name, entries } of more) if (!(await sendOutbox(link, name, entries, options))) isDone = false;
  if (isDone)
    await link.transport.send([["ZREM", shard.keys.expiry, cancelMember(flow, mode, home)]], options);
  return { ...sum, isDone };
}

const isField = ({ entry }: Open) => entry.kind === "field";

/** The commands that remove from the outbox of a partition what has been done. */
export function removeEntries(
  { keys }: Shard,
  entries: readonly Pick<OutboxEntry, "kind" | "member">[],
): Command[] {
  if (entries.length === 0) return [];
  const fields = entries.flatMap(({ kind, member }) => (kind === "field" ? [member] : []));
  // The fields first: a member without one is removed by the next sweep.
  return [
    ...(fields.length > 0 ? [["HDEL", keys.tasks, ...fields] as const] : []),
    ["ZREM", keys.expiry, ...entries.map(({ member }) => member)],
  ];
}

/** The partition that gets a piece of a flow. */
const targetOf = (member: string) => member.slice(member.lastIndexOf(" ") + 1);

/** Adds a piece of a flow. Returns false if it may still be staged, so that its flow is not known yet. */
async function sendPiece(link: Link, from: string, member: string, options: SendOptions): Promise<boolean> {
  const { tasks } = shardNamed(link, from).keys;
  const read = commandCall(["HGET", tasks, member], (reply) => reply as string | null);
  const text = await run(link.transport, read, options);
  // Another caller has added it.
  if (text === null) return true;
  const to = targetOf(member);
  const { queue } = readShardName(to);
  const call = pieceCall(shardNamed(link, to), readPiece(text), link.released?.wakeWindow(queue));
  const { status, wake } = await run(link.transport, call, options);
  if (wake) await link.released?.ready(queue);
  return status === "ok";
}
