/** Empties the outboxes of partitions: notifies other partitions what has become of the tasks of a flow. */
import { commandCall, run, runAll } from "../call.ts";
import { readShardName } from "../names/keys.ts";
import type { QueueRef } from "../queue-ref.ts";
import { SluiceError } from "../../errors.ts";
import type { ReplyReader } from "../scripts/binding.ts";
import { replyOf } from "../scripts/replies.ts";
import { Shard } from "../shard.ts";
import { groupedBy, slicesOf } from "../slices.ts";
import type { Command, SendOptions } from "../transport.ts";
import { cancelMember, type CancelMode, cancelNodes, markCall, readCancelMember } from "./cancel-nodes.ts";
import { readLayout } from "./flow-layout.ts";
import { flowOf, layoutField, nodeId } from "./flow-names.ts";
import {
  addFlowScript,
  endFlowScript,
  type OutboxEntry,
  readEntries,
  readOutboxScript,
  notifyScript,
} from "./link-scripts.ts";

/** Where partitions are. */
export type Link = Omit<QueueRef, "name">;

/** How many nodes one call notifies or ends. */
const PER_CALL = 200;

/** Entries that one call reads, and rounds of one run: what is left is for the next sweep. */
const ENTRIES = 100;
const MAX_ROUNDS = 1_000;

/** How long the layout of a flow is kept after its end, ms. */
const LAYOUT_KEPT_FOR = 3_600_000;

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
 * Reads the outbox of a partition, and empties it.
 * @returns whether it is empty, and all nodes of flows there have ended
 * @throws {SluiceError}
 */
export async function emptyOutbox(link: Link, name: string, options: SendOptions = {}): Promise<boolean> {
  const call = shardNamed(link, name).call(readOutboxScript, { size: String(ENTRIES) });
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const { nodes, entries } = await run(link.transport, call, options);
    if (entries.length === 0) return nodes === 0;
    if (!(await sendOutbox(link, name, entries, options))) return false;
  }
  return false;
}

/** What the names of notes begin with that say that a partition has nodes of flows. */
const NOTE = "~^";

/** Scores of such notes are later than any instant: sweeps take no note for a reminder that is due. */
const NEVER = 8_640_000_000_000_001;

/** The command that notes in the registry that a partition gets nodes of flows. It goes in front of them. */
export function noteNodes({ keys, name }: Shard): Command {
  // Another score each time, by which `forgetNodes` removes only the note that it has seen.
  const score = NEVER + Math.floor(Math.random() * 1e14);
  return ["ZADD", keys.queues, String(score), NOTE + name];
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

/**
 * Notifies what a partition has left to be notified, and all that follows from it.
 * @returns whether all of it was done. The rest stays in the outbox
 * @throws {SluiceError}
 */
export async function sendOutbox(
  link: Link,
  name: string,
  entries: readonly OutboxEntry[],
  options: SendOptions = {},
): Promise<boolean> {
  let isDone = true;
  const open = [{ name, entries }];
  const failed: { readonly from: string; readonly member: string }[] = [];
  for (const { name: from, entries: own } of open) {
    const done: OutboxEntry[] = [];
    // Tasks first: others may wait for them.
    for (const entry of own.toSorted(byKind)) {
      if (entry.kind === "cancel") {
        failed.push({ from, member: entry.member });
        continue;
      }
      const sent = await sendEntry(link, from, entry, options);
      open.push(...sent.more);
      if (sent.isDone) done.push(entry);
      else isDone = false;
    }
    if (done.length === 0) continue;
    const commands = removeEntries(shardNamed(link, from), done);
    for (const outcome of await link.transport.send(commands, options)) replyOf(outcome);
  }
  // What waits for a task that has failed falls before all others are cancelled.
  for (const { from, member } of failed) {
    const { flow, mode, home } = readCancelMember(member);
    const cancelled = await cancelFlow(link, home, flow, mode, options);
    if (cancelled?.isDone === false) isDone = false;
    else await link.transport.send([["ZREM", shardNamed(link, from).keys.expiry, member]], options);
  }
  return isDone;
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
 */
export async function sendSettled(
  transport: QueueRef["transport"],
  keys: readonly string[],
  testNow: string | undefined,
  entries: ReplyReader,
  options: SendOptions = {},
): Promise<void> {
  const { link, name } = shardOf(transport, keys, testNow);
  await unlessItFails(sendOutbox(link, name, readEntries(entries), { signal: options.signal }));
}

/** As {@link sendSettled}, after a call whose reply does not have what it has left. */
export async function emptyOutboxOf(
  transport: QueueRef["transport"],
  keys: readonly string[],
  testNow: string | undefined,
  options: SendOptions = {},
): Promise<void> {
  const { link, name } = shardOf(transport, keys, testNow);
  await unlessItFails(emptyOutbox(link, name, { signal: options.signal }));
}

/** The partition that has these keys. */
function shardOf(transport: QueueRef["transport"], keys: readonly string[], testNow: string | undefined) {
  const tasks = keys.find((key) => key.endsWith(":tasks")) ?? "";
  const [, prefix, queue = "", first = ""] = /^(.*):\{([^}]+)\}(\/0)?:tasks$/.exec(tasks) ?? [];
  const link: Link = { transport, prefix, now: testNow ? () => Number(testNow) : undefined };
  return { link, name: queue + first };
}

/** What has failed stays in the outbox. */
async function unlessItFails(sent: Promise<unknown>): Promise<void> {
  try {
    await sent;
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
  }
}

const byKind = (one: OutboxEntry, other: OutboxEntry) => (one.kind < other.kind ? -1 : 1);

interface Sent {
  readonly isDone: boolean;
  /** What other partitions have left to be notified because of it. */
  readonly more: readonly { readonly name: string; readonly entries: readonly OutboxEntry[] }[];
}

async function sendEntry(link: Link, from: string, entry: OutboxEntry, options: SendOptions): Promise<Sent> {
  const id = entry.member.slice("~x:".length);
  if (entry.kind === "field") {
    const to = id.slice(id.lastIndexOf(" ") + 1);
    const { token, items } = JSON.parse(entry.followers) as AddedLater;
    await run(link.transport, addLaterCall(shardNamed(link, to), token, items), options);
    return { isDone: true, more: [] };
  }
  if (entry.followers === " -") {
    await endFlow(link, from, flowOf(id), entry.outcome === "open", options);
    return { isDone: true, more: [] };
  }
  return notifyAll(link, from, id, entry, options);
}

/** Nodes that are added to a partition after the home of their flow. */
export interface AddedLater {
  readonly token: string;
  readonly items: readonly (readonly [id: string, edges: string, record: string])[];
}

/** The call that adds them. */
export function addLaterCall(shard: Shard, token: string, items: AddedLater["items"]) {
  const each = items.map(([id, edges, record]) => ({ id, edges, record }));
  return shard.call(addFlowScript, { wake: "", token }, each, shard.note());
}

async function notifyAll(
  link: Link,
  from: string,
  id: string,
  { followers, outcome, because }: OutboxEntry,
  options: SendOptions,
): Promise<Sent> {
  const flow = flowOf(id);
  const [own = "", ...others] = followers.split(" ");
  const lists = [
    [from, own] as const,
    ...slicesOf(others, 2).map(([to = "", list = ""]) => [to, list] as const),
  ];
  const calls = lists.flatMap(([to, list]) => {
    const notified =
      list === ""
        ? []
        : list.split(",").map((text): Change => {
            const [number = "", edge = ""] = text.split(".");
            return { id: nodeId(flow, number), edge, outcome, because };
          });
    return slicesOf(notified, PER_CALL).map((slice) => ({
      to,
      call: shardNamed(link, to).call(notifyScript, { wake: "" }, slice),
    }));
  });
  const replies = await runAll(
    link.transport,
    calls.map(({ call }) => call),
    options,
  );
  const more = replies.flatMap(({ outbox }, i) =>
    outbox.length > 0 ? [{ name: calls[i]?.to as string, entries: outbox }] : [],
  );
  const unknown = replies.some((reply) => reply.unknown > 0);
  // Each node has the flow as a whole among its followers.
  const home = lists.find(([, list]) => /(?:^|,)flow\./.test(list))?.[0] ?? from;
  return { more, isDone: !unknown || !(await exists(link, home, flow, options)) };
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
  goesOn: boolean,
  options: SendOptions,
): Promise<void> {
  const shard = shardNamed(link, home);
  const layout = await readLayout(shard, flow, options);
  if (!layout) return;
  const args = { keptFor: goesOn ? "" : String(LAYOUT_KEPT_FOR) };
  const own = layout.fields.map((id) => ({ id, shard: home }));
  const ended = groupedBy([...layout.nodes, ...layout.roots, ...own], (one) => one.shard);
  const calls = Array.from(ended, ([name, ids]) =>
    slicesOf(ids, PER_CALL).map((slice) => shardNamed(link, name).call(endFlowScript, args, slice)),
  );
  await runAll(link.transport, calls.flat(), options);
}
