/** What a deep sweep does for flows: no task waits for what has ended, or is lost. */
import { commandCall, run, runAll } from "../../kernel/call.ts";
import {
  type FlowLayout,
  type LayoutEdge,
  type LayoutNode,
  readLayout,
} from "../../kernel/linked/flow-layout.ts";
import { flowOf, layoutField, nodeId, rootOf } from "../../kernel/linked/flow-names.ts";
import { cancelNodesScript, type NodeStatus, notifyScript } from "../../kernel/linked/link-scripts.ts";
import { emptyOutbox, type Link, shardNamed } from "../../kernel/linked/outbox.ts";
import type { Shard } from "../../kernel/shard.ts";
import { groupedBy, slicesOf } from "../../kernel/slices.ts";
import type { PlainCommand, SendOptions } from "../../kernel/transport.ts";
import type { DeepSweepPart, Findings } from "../../sweep/deep-part.ts";
import { ADDED_ROOT } from "./front-of.ts";
import { readStates } from "./report-flow.ts";

/** Scores of blocked nodes in `delayed`, and of the outbox in `expiry`. */
const BLOCKED = "4503599627370495";

/** The next score in `delayed`, that of joins and gates. */
const AFTER = "4503599627370496";

/** How many entries one command or call handles. */
const PAGE = 160;

/** Repairs the flows that have their home in a partition, and finds nodes there whose flow is not known. */
export const flowsRepair: DeepSweepPart = {
  async repair(shard, checked, findings, options) {
    if (checked?.hasFlows === false) return;
    const { tasks } = shard.keys;
    if (!(Number(await send(shard, ["HGET", tasks, "~nodes"], options)) > 0)) return;
    const own = await flowsOf(shard, options);
    for (const flow of own) await repairFlow(shard, flow, findings, options);
    await repairHomeless(shard, own, findings, options);
  },
};

const send = (shard: Shard, command: PlainCommand, options: SendOptions) =>
  run(
    shard.queue.transport,
    commandCall(command, (reply) => reply),
    options,
  );

/** The flows that have their home in a partition. */
async function flowsOf(shard: Shard, options: SendOptions): Promise<Set<string>> {
  const flows = new Set<string>();
  let cursor = "0";
  do {
    const command = ["HSCAN", shard.keys.tasks, cursor, "MATCH", "~F:*", "COUNT", "1000"] as const;
    const [next, fields] = (await send(shard, command, options)) as [string, string[]];
    for (const field of fields) if (/^~F:[^ ]+@[^ ]+$/.test(field)) flows.add(field.slice("~F:".length));
    cursor = next;
  } while (cursor !== "0");
  return flows;
}

async function repairFlow(
  home: Shard,
  flow: string,
  findings: Findings,
  options: SendOptions,
): Promise<void> {
  const link: Link = home.queue;
  const layout = await readLayout(home, flow, options);
  if (!layout) return;
  // What is under way is no fault.
  const shards = new Set([home.name, ...layout.nodes.map(({ shard }) => shard)]);
  for (const name of shards) await emptyOutbox(link, name, options);
  const nodes = [{ id: rootOf(flow), shard: home.name }, ...layout.nodes];
  const states = await readStates(link, nodes, options);
  findings.checked(layout.nodes.length);
  if (states.get(rootOf(flow))?.state !== "blocked") return;
  await failLost(link, layout, states, findings, options);
  await notifyAgain(link, home.name, layout, states, findings, options);
}

/** Lets what waits for a node fall that is not known. */
async function failLost(
  link: Link,
  { nodes }: FlowLayout,
  states: ReadonlyMap<string, NodeStatus>,
  findings: Findings,
  options: SendOptions,
): Promise<void> {
  const isLost = ({ from }: LayoutEdge) => states.get((nodes[from] as LayoutNode).id)?.state === "";
  for (const { id } of nodes) if (states.get(id)?.state === "") findings.found("flow_broken", id);
  const changes = nodes.flatMap(({ id, shard, after }) =>
    after.flatMap((edge, place) => {
      const because = (nodes[edge.from] as LayoutNode).id;
      return isLost(edge) ? [{ shard, item: { id, edge: String(place), outcome: "failed", because } }] : [];
    }),
  );
  for (const [name, own] of groupedBy(changes, ({ shard }) => shard)) {
    for (const slice of slicesOf(own, PAGE)) {
      const items = slice.map(({ item }) => item);
      await run(link.transport, shardNamed(link, name).call(notifyScript, { wake: "" }, items), options);
    }
    await emptyOutbox(link, name, options);
  }
}

/** Notifies nodes again that wait for what has ended. */
async function notifyAgain(
  link: Link,
  home: string,
  { nodes, roots }: FlowLayout,
  states: ReadonlyMap<string, NodeStatus>,
  findings: Findings,
  options: SendOptions,
): Promise<void> {
  const stateOf = (place: number) => states.get((nodes[place] as LayoutNode).id)?.state ?? "";
  const hasEnded = (place: number) => stateOf(place) === "completed" || stateOf(place) === "rejected";
  const again = new Map<string, string>();
  const note = ({ id, shard }: { readonly id: string; readonly shard: string }) =>
    again.set(`${shard} ${id}`, shard);
  for (const [place, { id, kind, after }] of nodes.entries()) {
    if (stateOf(place) !== "blocked") continue;
    const hasFailed = ({ from, on }: LayoutEdge) => on === "completed" && stateOf(from) === "rejected";
    const isStuck =
      after.every(({ from }) => hasEnded(from)) || (kind !== "join" && after.some((edge) => hasFailed(edge)));
    if (!isStuck) continue;
    findings.found("edge_open", id);
    for (const { from } of after) if (hasEnded(from)) note(nodes[from] as LayoutNode);
  }
  const isOver = [...nodes.keys()].every((place) => hasEnded(place) || stateOf(place) === "");
  if (isOver) {
    findings.found("edge_open", roots[0]?.id ?? "");
    for (const [place, one] of nodes.entries()) if (hasEnded(place)) note(one);
    for (const one of roots) if (one.shard !== home) note(one);
  }
  for (const [name, own] of groupedBy([...again], ([, shard]) => shard)) {
    const shard = shardNamed(link, name);
    for (const slice of slicesOf(own, PAGE)) {
      const members = slice.flatMap(([key]) => [BLOCKED, `~x:${key.slice(name.length + 1)}`]);
      await send(shard, ["ZADD", shard.keys.expiry, ...members], options);
    }
  }
  for (const name of new Set(again.values())) await emptyOutbox(link, name, options);
}

const joinBehind = (id: string, flow: string) =>
  id.startsWith("g") ? nodeId(flow, id.slice(0, ADDED_ROOT)) : rootOf(flow);

/** Cancels nodes whose flow is not known: nothing will release them. */
async function repairHomeless(
  shard: Shard,
  own: ReadonlySet<string>,
  findings: Findings,
  options: SendOptions,
): Promise<void> {
  const { delayed, tasks } = shard.keys;
  const command = ["ZRANGE", delayed, BLOCKED, `(${AFTER}`, "BYSCORE", "LIMIT", "0", "10000"] as const;
  const found = (await send(shard, command, options)) as readonly string[];
  for (const [flow, ids] of groupedBy(found, flowOf)) {
    if (own.has(flow)) continue;
    // The joins behind all nodes of this partition name the home.
    const joins = new Set(ids.map((id) => joinBehind(id, flow)));
    const records = (await send(shard, ["HMGET", tasks, ...joins], options)) as readonly (string | null)[];
    const homes = records.flatMap((record) => /^[^\n]*;H=([^;\n]*)/.exec(record ?? "")?.[1] ?? []);
    const at = shardNamed(shard.queue, homes[0] ?? shard.name);
    if ((await send(at, ["HEXISTS", at.keys.tasks, layoutField(flow)], options)) === 1) continue;
    for (const id of ids) findings.found("flow_broken", id);
    const calls = slicesOf(ids.toReversed(), PAGE).map((slice) => {
      const items = slice.map((id) => ({ id }));
      return shard.call(cancelNodesScript, { mark: "", outbox: "" }, items);
    });
    await runAll(shard.queue.transport, calls, options);
    await emptyOutbox(shard.queue, shard.name, options);
  }
}
