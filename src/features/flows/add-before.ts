/** Adds tasks in front of one that waits for a working task. */
import { invalidArgument, SluiceError } from "../../errors.ts";
import { commandCall, run } from "../../kernel/call.ts";
import type { AddHeaders } from "../../kernel/hooks.ts";
import { edgesText, layoutFields, readPlans } from "../../kernel/linked/flow-layout.ts";
import {
  flowOf,
  nodeId,
  type Predecessor,
  predecessorsField,
  rootOf,
} from "../../kernel/linked/flow-names.ts";
import { addBeforeScript } from "../../kernel/linked/link-scripts.ts";
import type { NodeItem } from "../../kernel/linked/node-pieces.ts";
import { shardNamed } from "../../kernel/linked/link.ts";
import { newToken } from "../../kernel/names/ids.ts";
import type { RequestOptions } from "../../kernel/options/types.ts";
import type { Shard } from "../../kernel/shard.ts";
import type { Adds } from "../../kernel/store.ts";
import { readReceipt } from "../../kernel/names/receipt.ts";
import { checkGroups } from "./check-groups.ts";
import { cancelsText, type NodesOfShard, writeNodes } from "./flow-nodes.ts";
import {
  addedNodes,
  checkTasks,
  type QueueOf,
  queuesOf,
  shardsOf,
  targetsOf,
  hookedAdd,
  wakeAll,
  type FlowQueue,
  overAll,
} from "./flow-tasks.ts";
import { ADDED_ROOT, addedRoot, frontOf, refOf } from "./front-of.ts";
import { type FlowItem, MAX_FLOW_TASKS } from "./graph/flow-items.ts";
import type { FlowPlan } from "./graph/flow-plan.ts";
import { planFlow } from "./graph/plan-flow.ts";
import { sendNodes } from "./send-nodes.ts";

/** Most characters of a ref, with those of the tasks that added it. */
const MAX_ADDED_REF = 1_000;

/**
 * What `addBefore` has done. `lease_lost`: the task is not the caller's any more. `not_blocked`: what should wait is
 * rejected or cancelled.
 */
export type AddedBefore<Ref extends string = string> =
  | { readonly ok: true; readonly created: boolean; readonly tasks: Readonly<Record<Ref, string>> }
  | { readonly ok: false; readonly code: "lease_lost" | "not_blocked" };

/**
 * Adds tasks that a blocked task waits for from now on, as it waits for the task that adds them: for their completion, or
 * for their end. A call of the same task with the same refs adds nothing, so a handler may be run again. The flow has
 * them under the ref of the task that adds them, such as `crawl/page`.
 * @param task the receipt of the task, and its queue
 * @param ref of what waits for the task: a task or an inner flow; or the inner flow or batch that the task is in
 * @param items as of a flow
 * @throws {SluiceError} `invalid_argument`, `too_large`, `queue_full`, or a fault of the transport
 */
export async function addBefore<Q>(
  task: { readonly receipt: string; readonly store: Adds },
  ref: string,
  items: readonly FlowItem<Q>[],
  queueOf: QueueOf<Q>,
  { signal }: Pick<RequestOptions, "signal"> = {},
): Promise<AddedBefore> {
  const plan = planFlow(items);
  const queues = queuesOf(plan.nodes, queueOf, task.store.queue);
  const stores = [task.store, ...queues.flatMap((queue) => queue?.store ?? [])];
  return hookedAdd(plan.nodes, queues, (addHeaders) =>
    overAll(stores, () => addOnce(task, ref, plan, queues, { signal, addHeaders }), { signal }),
  );
}

async function addOnce<Q>(
  task: { readonly receipt: string; readonly store: Adds },
  ref: string,
  { nodes, edges }: FlowPlan<Q>,
  queues: readonly (FlowQueue | undefined)[],
  { signal, addHeaders }: { signal: AbortSignal | undefined; addHeaders: AddHeaders | undefined },
): Promise<AddedBefore> {
  const { id, lease, token: ofLease, place } = readReceipt(task.receipt, "receipt");
  const shard = task.store.shard(place);
  const flow = flowOf(id);
  const number = id.slice(0, id.indexOf("{"));
  if (!queues.some((queue) => queue)) throw invalidArgument("tasks", "must have at least one task");
  const recordsOf = await checkTasks(nodes, queues, addHeaders);
  const known = await readWorking(shard, id, `${lease},${ofLease}`, signal);
  if (!known) return { ok: false, code: "lease_lost" };
  if (!flow.includes("@")) throw invalidArgument("ref", `names ${ref}, but the task is of no flow`);
  const link = shard.queue;
  const home = shardNamed(link, known.home);
  const { plans } = (await readPlans(home, flow, { signal })) ?? { plans: new Map() };
  const front = frontOf(plans, flow, number, ref);
  const from = shardNamed(link, front.shard);

  const own = refOf(plans, number);
  const root = await addedRoot(id, ref, { nodes, edges });
  const added = nodes.map((node) => ({ ...node, ref: `${own}/${node.ref}` }));
  const others = new Set([...plans].flatMap(([other, plan]) => (other === root ? [] : plan.refs)));
  const tooLong = added.find((node) => node.ref.length > MAX_ADDED_REF);
  if (tooLong) {
    const how = `with those of the tasks that added it, as in ${tooLong.ref.slice(0, 60)}…, it may have ${MAX_ADDED_REF} characters`;
    throw invalidArgument(`${tooLong.path}.ref`, `is too long; ${how}`);
  }
  if (others.size + added.filter(({ kind }) => kind !== "gate").length > MAX_FLOW_TASKS)
    throw invalidArgument(
      "tasks",
      `has too many tasks; a flow has at most ${MAX_FLOW_TASKS}, with those added later`,
    );
  const again = added.find((node) => others.has(node.ref));
  if (again) throw invalidArgument(again.path, `must have a new ref; the flow has ${again.ref} already`);

  const shards = await shardsOf(queues, flow, { signal });
  const places = queues.map((queue) => (queue ? (shards.get(queue) as Shard).name : front.shard));
  const numberFor = (node: number) => root + String(node);
  const records = await recordsOf((node) => nodeId(flow, numberFor(node)), []);
  await checkGroups(nodes, queues, shards, undefined, { signal });
  const token = newToken();
  const plan = { nodes: added, edges };
  const { cancelsAt } = known;
  const names = { flow, token, root, number: numberFor, rootPlace: front.shard, home: known.home, cancelsAt };
  const { rootEdges, pieces } = writeNodes({ ...names, ...plan, places, records });

  // All of them wait for each other as an inner flow does, and those of the list itself are what it is made of.
  const ends = nodes.flatMap(({ kind, ref: one }, node) =>
    kind === "gate" || one.includes("/") ? [] : [node],
  );
  const ofFront = edgesText(ends.map((node) => [front.letter, node]));
  const layout = layoutFields(flow, root, {
    ...addedNodes(plan, places, front.shard),
    front: [front.number, ofFront],
  });
  const shown = ends.map((node): Predecessor => [
    added[node]?.ref as string,
    numberFor(node),
    places[node] as string,
  ]);
  const notes: NodesOfShard[] = [
    ...layout.map(({ field, text }) => ({
      shard: known.home,
      items: [{ id: field, edges: "~l", record: text }],
    })),
    ...front.shownTo.map((one) => ({
      shard: one.shard,
      items: [{ id: predecessorsField(one.id), edges: "~a", record: JSON.stringify(shown).slice(1, -1) }],
    })),
  ];
  const ofJoin = {
    id: nodeId(flow, root),
    edges: rootEdges,
    record: `;t=${token};F=${flow};J=j;H=${known.home}${cancelsText(cancelsAt)}\n`,
  };
  const isHere = (note: NodesOfShard) => note.shard === front.shard;
  const targets = new Map([
    ...[from, home, ...notes.map((note) => shardNamed(link, note.shard))].map(
      (one) => [one.name, { shard: one, wake: "" }] as const,
    ),
    ...targetsOf(shards),
  ]);
  const args = {
    wake: targets.get(front.shard)?.wake ?? "",
    flow,
    front: front.number,
    edge: String(front.edge ?? known.rootEdge),
    behind: front.behind,
  };
  const sent = await sendNodes(
    {
      from,
      targets,
      token,
      front: [ofJoin, ...notes.filter(isHere).flatMap((note) => note.items)],
      first: notes.filter((note) => !isHere(note)),
      pieces,
      record: (all: readonly NodeItem[]) => from.call(addBeforeScript, args, all, from.note()),
    },
    signal,
  );
  if (sent.status === "full") throw new SluiceError("queue_full", `the queue ${from.queue.name} is full`);
  if (sent.status === "lost")
    throw new SluiceError("aborted", "adding the tasks took over an hour; add them again");
  if (sent.status === "ended") return { ok: false, code: "lease_lost" };
  if (sent.status === "not_blocked") return { ok: false, code: "not_blocked" };
  await wakeAll(shards, sent.wakes);
  const ids = nodes.flatMap(({ kind, ref: one }, node) =>
    kind === "task" ? [[one, nodeId(flow, numberFor(node))]] : [],
  );
  return {
    ok: true,
    created: sent.by === "this",
    tasks: Object.fromEntries(ids) as Record<string, string>,
  };
}

/**
 * Reads what a task that is being worked on knows of its flow: its home, and the edge by which the join of added nodes
 * waits for it. Undefined if the lease is lost.
 */
async function readWorking(shard: Shard, id: string, proof: string, signal: AbortSignal | undefined) {
  const flow = flowOf(id);
  const root = id.startsWith("g") ? id.slice(0, ADDED_ROOT) : "";
  const fields = [`.${id}`, rootOf(flow), nodeId(flow, root)];
  const read = commandCall(
    ["HMGET", shard.keys.tasks, ...fields],
    (reply) => reply as readonly (string | null)[],
  );
  const [own, ofFlow, ofRoot] = await run(shard.queue.transport, read, { signal });
  const [, , , , , state, leaseNumber, token] = (own ?? "").split(";", 8);
  if (state !== "w" || `${leaseNumber},${token}` !== proof) return undefined;
  const home = /^[^\n]*;H=([^;\n]*)/.exec(ofFlow ?? ofRoot ?? "")?.[1];
  const list = [followers(own ?? ""), followers(ofRoot ?? "")].join(",").replaceAll(" ", ",").split(",");
  const rootEdge = list.findLast((one) => one.startsWith(`${root}.`))?.slice(root.length + 1);
  const cancelsAt = /^[^\n]*;C=([^;\n]*)/.exec(own ?? "")?.[1];
  return { home: home ?? shard.name, rootEdge, cancelsAt };
}

const followers = (record: string) => /^[^\n]*;B=([^;\n]*)/.exec(record)?.[1] ?? "";
