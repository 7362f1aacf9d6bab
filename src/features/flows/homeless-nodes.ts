/** What a deep sweep does for nodes whose flow is not known: nothing else would end them, or forget them. */
import { commandCall, exchange, run, runAll } from "../../kernel/call.ts";
import { NEVER_DUE, flowOf, layoutField, nodeId, rootOf } from "../../kernel/linked/flow-names.ts";
import {
  addFlowScript,
  cancelNodesScript,
  endFlowScript,
  notifyScript,
} from "../../kernel/linked/link-scripts.ts";
import { shardNamed } from "../../kernel/linked/link.ts";
import { emptyOutbox } from "../../kernel/linked/outbox.ts";
import { newToken } from "../../kernel/names/ids.ts";
import type { Shard } from "../../kernel/shard.ts";
import { groupedBy, slicesOf } from "../../kernel/slices.ts";
import type { SendOptions } from "../../kernel/transport.ts";
import type { Findings } from "../../sweep/deep-part.ts";
import { ADDED_ROOT } from "./front-of.ts";
import { KEPT_ON } from "./repair-flow.ts";
import { readStates } from "./report-flow.ts";

/** How many members one command reads, and how many entries one call handles. */
const READ = 5_000;
const PAGE = 160;

/** Most partitions of a queue. */
const MAX_PLACES = 64;

/** How long the records of ended nodes are kept that say nothing else, ms. */
const KEPT_FOR = "3600000";

const NODE = /^\w+\{[^{}]+@[^{}]+\}$/;

/**
 * Cancels nodes whose flow is not known, and lets the records of those expire that have ended.
 * @param own the flows that have their home here
 */
export async function endHomeless(
  shard: Shard,
  own: ReadonlySet<string>,
  findings: Findings,
  options: SendOptions,
): Promise<void> {
  const { delayed, expiry } = shard.keys;
  const until = String((shard.queue.now?.() ?? Date.now()) + KEPT_ON);
  const known = new Set(own);
  const blocked = await homelessOf(shard, [delayed, NEVER_DUE, "+inf"], known, options);
  for (const ids of groupedBy(blocked, flowOf).values()) {
    for (const id of ids) findings.found("flow_broken", id);
    await cancelAll(shard, ids, options);
  }
  if (blocked.length > 0) await emptyOutbox(shard.queue, shard.name, options);
  const ended = await homelessOf(shard, [expiry, until, `(${NEVER_DUE}`], known, options);
  const calls = slicesOf(ended, PAGE).map((slice) =>
    shard.call(
      endFlowScript,
      { keptFor: KEPT_FOR },
      slice.map((id) => ({ id })),
    ),
  );
  await runAll(shard.queue.transport, calls, options);
}

/**
 * The nodes among the members of a zset whose flow is not known.
 * @param range its key, and bounds of scores
 * @param known flows that are known. Others are added
 */
async function homelessOf(
  shard: Shard,
  [key, from, to]: readonly [string, string, string],
  known: Set<string>,
  options: SendOptions,
): Promise<readonly string[]> {
  const { transport } = shard.queue;
  const homeless: string[] = [];
  const lost = new Set<string>();
  for (let offset = 0; ; offset += READ) {
    const command = ["ZRANGE", key, from, to, "BYSCORE", "LIMIT", String(offset), String(READ)] as const;
    const call = commandCall(command, (reply) => reply as readonly string[]);
    const page = await run(transport, call, options);
    const nodes = page.filter((member) => NODE.test(member));
    const flows = groupedBy(nodes, flowOf);
    const unseen = [...flows.keys()].filter((flow) => !known.has(flow) && !lost.has(flow));
    for (const slice of slicesOf(unseen, PAGE)) {
      const own = slice.map((flow) => flows.get(flow) as readonly string[]);
      const named = await homesOf(shard, own, options);
      const places = await Promise.all(
        slice.map(async (flow, i) => (named[i] === undefined ? placesOf(shard, flow, options) : [named[i]])),
      );
      const calls = slice.flatMap((flow, i) =>
        (places[i] as readonly string[]).map((name) => {
          const { tasks } = shardNamed(shard.queue, name).keys;
          const command = ["HEXISTS", tasks, layoutField(flow)] as const;
          return commandCall(command, (reply) => (reply === 1 ? flow : undefined));
        }),
      );
      for (const exists of await exchange(transport, calls, options)) {
        const flow = exists();
        if (flow !== undefined) known.add(flow);
      }
      for (const flow of slice) if (!known.has(flow)) lost.add(flow);
    }
    homeless.push(...nodes.filter((id) => lost.has(flowOf(id))));
    if (page.length < READ) return homeless;
  }
}

/** Where a flow may have its home, if nothing here names it: the partitions of its queue that are in use. */
async function placesOf(shard: Shard, flow: string, options: SendOptions): Promise<readonly string[]> {
  const queue = flow.slice(flow.lastIndexOf("@") + 1);
  const names = [queue, ...Array.from({ length: MAX_PLACES }, (_, place) => `${queue}/${place}`)];
  const command = ["ZMSCORE", shard.keys.queues, ...names] as const;
  const read = commandCall(command, (reply) => reply as readonly (string | null)[]);
  const scores = await run(shard.queue.transport, read, options);
  return names.filter((_, i) => scores[i] !== null);
}

/** The homes of flows, by nodes of each. The joins behind all nodes of a partition name it; undefined if these are lost. */
async function homesOf(
  shard: Shard,
  ofFlows: readonly (readonly string[])[],
  options: SendOptions,
): Promise<(string | undefined)[]> {
  const joins = ofFlows.map((ids) => [...new Set(ids.flatMap((id) => [rootOf(flowOf(id)), joinBehind(id)]))]);
  const fields = joins.flat().flatMap((id) => [id, `.${id}`]);
  const records = new Map<string, string>();
  for (const slice of slicesOf(fields, PAGE)) {
    const command = ["HMGET", shard.keys.tasks, ...slice] as const;
    const read = commandCall(command, (reply) => reply as readonly (string | null)[]);
    for (const [i, record] of (await run(shard.queue.transport, read, options)).entries())
      records.set(slice[i] as string, record ?? "");
  }
  const homeOf = (id: string) =>
    /^[^\n]*;H=([^;\n]*)/.exec(records.get(id) ?? "")?.[1] ?? lastOf(records.get(`.${id}`) ?? "");
  return joins.map((ids) => ids.map(homeOf).find((home) => home !== undefined));
}

const joinBehind = (id: string) =>
  id.startsWith("g") ? nodeId(flowOf(id), id.slice(0, ADDED_ROOT)) : rootOf(flowOf(id));

/** The home that the followers of a node end with, if others than those of its own partition are among them. */
function lastOf(record: string): string | undefined {
  const followers = (/^[^\n]*;B=([^;\n]*)/.exec(record)?.[1] ?? "").split(" ");
  return followers.length % 2 === 0 ? followers.at(-1) : undefined;
}

/** Ends blocked nodes of a flow: tasks are cancelled, joins and gates end because nothing that they wait for is known. */
async function cancelAll(shard: Shard, ids: readonly string[], options: SendOptions): Promise<void> {
  const { transport } = shard.queue;
  const nodes = ids.map((id) => ({ id, shard: shard.name }));
  const read = () => readStates(shard.queue, nodes, options, true);
  const lost = [...(await read()).values()].filter(({ edges }) => edges === "?");
  // Without a record none can be cancelled.
  for (const slice of slicesOf(lost, PAGE)) {
    const items = slice.map(({ id }) => ({ id, edges: "~rc", record: "" }));
    const args = { wake: "", token: newToken(), mayRefuse: "" };
    await run(transport, shard.call(addFlowScript, args, items, shard.note()), options);
  }
  const calls = slicesOf(ids.toReversed(), PAGE).map((slice) =>
    shard.call(
      cancelNodesScript,
      { mark: "", outbox: "" },
      slice.map((id) => ({ id })),
    ),
  );
  await runAll(transport, calls, options);
  const waiting = [...(await read()).values()].filter(({ state }) => state === "blocked");
  const changes = waiting.flatMap(({ id, edges }) =>
    Array.from(edges.split(",")[2] ?? "", (_, at) => {
      return { id, edge: String(at), outcome: "failed", because: id };
    }),
  );
  for (const slice of slicesOf(changes, PAGE))
    await run(transport, shard.call(notifyScript, { wake: "" }, slice), options);
}
