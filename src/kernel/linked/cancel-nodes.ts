/** Cancels the tasks of a flow. */
import { runAll } from "../call.ts";
import type { Shard } from "../shard.ts";
import { slicesOf } from "../slices.ts";
import type { SendOptions } from "../transport.ts";
import type { FlowLayout, LayoutNode } from "./flow-layout.ts";
import { rootOf } from "./flow-names.ts";
import { cancelNodesScript, type OutboxEntry } from "./link-scripts.ts";

/** Why a flow is cancelled: by its user, or because one of its tasks failed. It is `N` of the flow as a whole. */
export type CancelMode = "a" | "f";

/** How many nodes one call cancels, and how many calls are one request. */
const PER_CALL = 160;
const PER_REQUEST = 16;

/** The member of the outbox that stays until a flow is cancelled. */
export const cancelMember = (flow: string, mode: CancelMode, home: string) =>
  `~x:${rootOf(flow)} !${mode} ${home}`;

/** What such a member says. */
export function readCancelMember(member: string) {
  const [, flow = "", mode = "a", home = ""] = /^~x:\w+\{(.*)\} !([af]) (.*)$/.exec(member) ?? [];
  return { flow, mode: mode as CancelMode, home };
}

/** Marks a flow as cancelled. From then on a sweep cancels its tasks, if the caller does not. */
export function markCall(home: Shard, flow: string, mode: CancelMode) {
  const args = { mark: mode, outbox: cancelMember(flow, mode, home.name) };
  return home.call(cancelNodesScript, args, [{ id: rootOf(flow) }]);
}

/**
 * Cancels the tasks of a flow that have not ended, the last ones first, so that none is rejected because of another.
 * Tasks that work are asked to stop.
 * @param mode with `f` it leaves out those that are there to clean up: see {@link sparedNodes}
 * @returns how many were cancelled, flagged and not known; and what the partitions have left to be notified
 * @throws {SluiceError}
 */
export async function cancelNodes(
  { nodes }: FlowLayout,
  mode: CancelMode,
  shardNamed: (name: string) => Shard,
  options: SendOptions,
) {
  const spared = mode === "f" ? sparedNodes(nodes) : [];
  const calls: { readonly shard: string; readonly ids: string[] }[] = [];
  for (let place = nodes.length - 1; place >= 0; place--) {
    const { id, kind, shard } = nodes[place] as LayoutNode;
    if (kind !== "task" || spared[place]) continue;
    const last = calls.at(-1);
    if (last?.shard === shard && last.ids.length < PER_CALL) last.ids.push(id);
    else calls.push({ shard, ids: [id] });
  }
  const sum = { cancelled: 0, flagged: 0, unknown: 0 };
  const more: { readonly name: string; readonly entries: readonly OutboxEntry[] }[] = [];
  for (const slice of slicesOf(calls, PER_REQUEST)) {
    // The calls of a request run in their order.
    const commands = slice.map(({ shard, ids }) => {
      const items = ids.map((id) => ({ id }));
      return shardNamed(shard).call(cancelNodesScript, { mark: "", outbox: "" }, items);
    });
    const [first] = slice;
    const { transport } = shardNamed(first?.shard ?? "").queue;
    for (const [i, reply] of (await runAll(transport, commands, options)).entries()) {
      sum.cancelled += reply.cancelled;
      sum.flagged += reply.flagged;
      sum.unknown += reply.unknown;
      if (reply.outbox.length > 0) more.push({ name: slice[i]?.shard ?? "", entries: reply.outbox });
    }
  }
  return { ...sum, more };
}

/**
 * Which nodes a failure does not cancel: tasks that need no completion of others but their end or failure, and those that
 * wait only for such tasks.
 */
export function sparedNodes(nodes: readonly Pick<LayoutNode, "kind" | "after">[]): readonly boolean[] {
  const spared: boolean[] = [];
  for (const { kind, after } of nodes) {
    const isSpared = after.every(
      ({ from, on }) => spared[from] === true || (on !== "completed" && kind !== "join"),
    );
    spared.push(after.length > 0 && isSpared);
  }
  return spared;
}
