/** Empties the outboxes of partitions: notifies other partitions what has become of the tasks of a flow. */
import { commandCall, exchange, run, runAll } from "../call.ts";
import { readShardName } from "../names/keys.ts";
import type { QueueRef } from "../queue-ref.ts";
import { SluiceError } from "../../errors.ts";
import type { ReplyReader } from "../scripts/binding.ts";
import { replyOf } from "../scripts/replies.ts";
import { Shard } from "../shard.ts";
import { groupedBy, slicesOf } from "../slices.ts";
import type { Command, SendOptions } from "../transport.ts";
import { cancelMember, type CancelMode, cancelNodes, markCall, readCancelMember } from "./cancel-nodes.ts";
import { Failures } from "./failures.ts";
import { readLayout } from "./flow-layout.ts";
import { flowOf, layoutField, nodeId } from "./flow-names.ts";
import { noteNodes } from "./node-notes.ts";
import { pieceCall, readPiece } from "./node-pieces.ts";
import {
  endFlowScript,
  type OutboxEntry,
  readEntries,
  readOutboxScript,
  notifyScript,
} from "./link-scripts.ts";

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

/** How many nodes one call notifies or ends. */
const PER_CALL = 200;

/** Entries that one call reads, and rounds of one run: what is left is for the next sweep. */
const ENTRIES = 100;
const MAX_ROUNDS = 1_000;

/** How long the layout of a flow is kept after its end, ms: as long as results and dead letters by default. */
const LAYOUT_KEPT_FOR = { completed: 3_600_000, failed: 604_800_000 };

/** A partition by its name in the registry, such as `emails` or `emails/3`. */
export function shardNamed(link: Link, name: string): Shard {
  const { queue, place } = readShardName(name);
  return new Shard({ ...link, name: queue }, place, name);
}

/** One thing to notify a node. */
interface Change {
  readonly id: string;
  readonly edge: string;
  readonly outcome: string;
  readonly because: string;
}

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

/** An entry, and the partition that has it. */
interface Open {
  readonly from: string;
  readonly entry: OutboxEntry;
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
    removals = Array.from(
      groupedBy(done, ({ from }) => from),
      ([from, own]) =>
        removeEntries(
          shardNamed(link, from),
          own.map(({ entry }) => entry),
        ),
    ).flat();
    open = more;
  }
  if (removals.length > 0)
    for (const outcome of await link.transport.send(removals, options)) replyOf(outcome);
  for (const one of lost) {
    const end = async () => {
      await link.endLost?.(one.entry.member, options);
      return link.endLost !== undefined;
    };
    if (!(await failures.of(end))) {
      isDone = false;
      continue;
    }
    await link.transport.send(removeEntries(shardNamed(link, one.from), [one.entry]), options);
    if (given.has(one.entry)) left--;
  }
  // What waits for a task that has failed falls before all others are cancelled.
  for (const { from, entry } of failed) {
    const { flow, mode, home } = readCancelMember(entry.member);
    const cancel = async () => (await cancelFlow(link, home, flow, mode, options))?.isDone !== false;
    if (!(await failures.of(cancel))) {
      isDone = false;
      continue;
    }
    await link.transport.send(removeEntries(shardNamed(link, from), [entry]), options);
    if (given.has(entry)) left--;
  }
  return { left, isDone };
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
  const commands: Command[] = [["ZREM", keys.expiry, ...entries.map(({ member }) => member)]];
  const fields = entries.flatMap(({ kind, member }) => (kind === "field" ? [member] : []));
  if (fields.length > 0) commands.push(["HDEL", keys.tasks, ...fields]);
  return commands;
}

/**
 * Notifies what a settle has left to be notified. If that fails, it stays in the outbox, and the settle has succeeded.
 * @param keys those of the settle
 * @param left the time of the settle, and the entries: so the calls need not read the time again
 */
export async function sendSettled(
  transport: QueueRef["transport"],
  keys: readonly string[],
  left: ReplyReader,
  options: SendOptions = {},
  released?: ForReleased,
): Promise<void> {
  const { link, name } = shardOf(transport, keys, left.text());
  await unlessItFails(sendOutbox({ ...link, released }, name, readEntries(left), ofRequest(options)));
}

/** As {@link sendSettled}, after a call whose reply does not have what it has left. */
export async function emptyOutboxOf(
  transport: QueueRef["transport"],
  keys: readonly string[],
  testNow: string | undefined,
  options: SendOptions = {},
  released?: ForReleased,
): Promise<void> {
  const { link, name } = shardOf(transport, keys, testNow);
  await unlessItFails(emptyOutbox({ ...link, released }, name, ofRequest(options)));
}

/** As {@link emptyOutboxOf}, after a redrive: sweeps find the nodes again of a flow that had ended. */
export async function emptyOutboxOfRedriven(
  transport: QueueRef["transport"],
  keys: readonly string[],
  testNow: string | undefined,
  options: SendOptions = {},
  released?: ForReleased,
): Promise<void> {
  const { link, name } = shardOf(transport, keys, testNow);
  const shard = shardNamed(link, name);
  const own = ofRequest(options);
  const empty = async () => {
    const { nodes } = await run(transport, shard.call(readOutboxScript, { size: "1", skip: "0" }), own);
    if (nodes === 0) return;
    await transport.send([noteNodes(shard)], own);
    await emptyOutbox({ ...link, released }, name, own);
  };
  await unlessItFails(empty());
}

/**
 * The partition that has these keys.
 * @param now the time that its scripts are given, epoch ms
 */
function shardOf(transport: QueueRef["transport"], keys: readonly string[], now: string | undefined) {
  const tasks = keys.find((key) => key.endsWith(":tasks")) ?? "";
  const [, prefix, queue = "", first = ""] = /^(.*):\{([^}]+)\}(\/0)?:tasks$/.exec(tasks) ?? [];
  const link: Link = { transport, prefix, now: now ? () => Number(now) : undefined };
  return { link, name: queue + first };
}

/** Each further request counts as a copy of the one that has left something: in a drain with a limit, too. */
const ofRequest = ({ signal, onSend }: SendOptions): SendOptions => ({ signal, onSend });

/** What has failed stays in the outbox. */
async function unlessItFails(sent: Promise<unknown>): Promise<void> {
  try {
    await sent;
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
  }
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
async function notifyAll(
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

/** From now on the records of the flow's tasks are kept for as long as each says; until its end, if it goes on. */
async function endFlow(
  link: Link,
  home: string,
  flow: string,
  outcome: "completed" | "failed" | "open",
  options: SendOptions,
): Promise<void> {
  const shard = shardNamed(link, home);
  const layout = await readLayout(shard, flow, options);
  if (!layout) return;
  const args = { keptFor: outcome === "open" ? "" : String(LAYOUT_KEPT_FOR[outcome]) };
  const own = layout.fields.map((id) => ({ id, shard: home }));
  const ended = groupedBy([...layout.nodes, ...layout.roots, ...own], (one) => one.shard);
  const calls = Array.from(ended, ([name, ids]) =>
    slicesOf(ids, PER_CALL).map((slice) => shardNamed(link, name).call(endFlowScript, args, slice)),
  );
  // What goes on is to be found by sweeps.
  const notes =
    outcome === "open" ? Array.from(ended.keys(), (name) => noteNodes(shardNamed(link, name))) : [];
  const noted = notes.map((note) => commandCall(note, () => undefined));
  await runAll<unknown>(link.transport, [...noted, ...calls.flat()], options);
}
