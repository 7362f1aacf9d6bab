/** The layout of a flow: where its nodes are, and what they wait for. Control fields of the flow's home have it. */
import { commandCall, run } from "../call.ts";
import { slicesOf } from "../slices.ts";
import type { SendOptions } from "../transport.ts";
import type { Shard } from "../shard.ts";
import { layoutField, nodeId, ROOT } from "./flow-names.ts";

/** How what a node waits for must end: as records of nodes write it, and in words. */
export const EDGE_KINDS = { c: "completed", e: "ended", r: "failed" } as const;

type Letter = keyof typeof EDGE_KINDS;

/** Nodes that were added together, as their field has them in JSON. Their places are in their own list. */
export interface AddedNodes {
  /** The partitions, by their names in the registry. */
  readonly shards: readonly string[];
  /** Runs of nodes: the place of their partition in `shards`, and how many they are. */
  readonly runs: readonly (readonly [shard: number, count: number])[];
  /** By the places of nodes. A join and a gate have the ref of their inner flow. */
  readonly refs: readonly string[];
  /** The places of joins, and of gates. All others are tasks. */
  readonly joins: readonly number[];
  readonly gates: readonly number[];
  /** Of a batch: the place of the join that its callbacks wait for. */
  readonly batch?: number | undefined;
  /** What each node waits for, such as `c0,e3-7`: a letter of {@link EDGE_KINDS}, and places of nodes. */
  readonly edges: readonly string[];
  /** Of those that were added later: the number of the node that waits for them, and what it waits for. */
  readonly front?: readonly [number: string, edges: string] | undefined;
}

export interface LayoutEdge {
  /** The place in the layout of the node that must end. */
  readonly from: number;
  readonly on: (typeof EDGE_KINDS)[Letter];
}

export interface LayoutNode {
  readonly id: string;
  /** The name of its partition in the registry. */
  readonly shard: string;
  readonly ref: string;
  readonly kind: "task" | "join" | "gate";
  /** As its caller wrote them. */
  readonly after: readonly LayoutEdge[];
}

export interface FlowLayout {
  /** In an order in which each comes after what it waits for. */
  readonly nodes: readonly LayoutNode[];
  /** The joins behind all nodes, and the partitions that they are in. */
  readonly roots: readonly { readonly id: string; readonly shard: string }[];
  /** The control fields. */
  readonly fields: readonly string[];
}

/** Most characters of a field. */
const FIELD = 500_000;

/** Fields that one request reads. */
const PER_REQUEST = 8;

/**
 * The fields of nodes that were added together.
 * @param root of the flow, or of nodes that were added later
 */
export function layoutFields(flow: string, root: string, added: AddedNodes) {
  const text = JSON.stringify(added);
  const count = Math.ceil(text.length / FIELD);
  return Array.from({ length: count }, (_, i) => {
    const name = `${root}.${i}.${count}`;
    return { name, field: fieldOf(flow, name), text: text.slice(i * FIELD, (i + 1) * FIELD) };
  });
}

const fieldOf = (flow: string, name: string) => `${layoutField(flow)} ${name}`;

/** Nodes by the numbers of the joins behind them: {@link ROOT}, and those of nodes that were added later. */
export type Plans = ReadonlyMap<string, AddedNodes>;

/** Reads the layout of a flow; undefined if the flow is not known. One request, or one more for each 4 MB. */
export async function readLayout(home: Shard, flow: string, options: SendOptions = {}) {
  const read = await readPlans(home, flow, options);
  return read && layoutOf(flow, read.names, read.plans);
}

/**
 * Reads what {@link readLayout} puts together. Nodes of which a field is missing are left out: they are still being
 * added.
 */
export async function readPlans(
  home: Shard,
  flow: string,
  options: SendOptions = {},
): Promise<{ readonly names: readonly string[]; readonly plans: Plans } | undefined> {
  const { transport } = home.queue;
  const head = commandCall(["HGET", home.keys.tasks, layoutField(flow)], (reply) => reply as string | null);
  const list = await run(transport, head, options);
  if (list === null) return undefined;
  const names = list.split(",");
  const texts = new Map<string, string>();
  for (const slice of slicesOf(names, PER_REQUEST)) {
    const fields = slice.map((name) => fieldOf(flow, name));
    const read = commandCall(
      ["HMGET", home.keys.tasks, ...fields],
      (reply) => reply as readonly (string | null)[],
    );
    for (const [i, text] of (await run(transport, read, options)).entries())
      if (text !== null) texts.set(slice[i] as string, text);
  }
  return { names, plans: plansOf(texts) };
}

/** Puts the fields of a layout together, by their names. */
export function plansOf(texts: ReadonlyMap<string, string>): Plans {
  const plans = new Map<string, AddedNodes>();
  for (const name of texts.keys()) {
    const [root = "", part, count] = name.split(".");
    if (part !== "0") continue;
    const all = Array.from({ length: Number(count) }, (_, i) => texts.get(`${root}.${i}.${count}`));
    if (!all.includes(undefined)) plans.set(root, JSON.parse(all.join("")) as AddedNodes);
  }
  return plans;
}

/** The number of a node, in its id. */
export const numberOf = (root: string, place: number) => (root === ROOT ? "" : root) + String(place);

/** Puts a layout together. */
export function layoutOf(flow: string, names: readonly string[], plans: Plans): FlowLayout {
  const inFront = new Map<string, string[]>();
  for (const [root, { front }] of plans) {
    if (!front) continue;
    const others = inFront.get(front[0]);
    if (others) others.push(root);
    else inFront.set(front[0], [root]);
  }
  const nodes: LayoutNode[] = [];

  /** Adds the nodes of one call. Returns what the node waits for that they were added in front of. */
  function add(root: string, on?: LayoutEdge["on"]): LayoutEdge[] {
    const plan = plans.get(root);
    if (!plan) return [];
    const { refs, joins, gates, edges, front } = plan;
    const kinds = refs.map((): LayoutNode["kind"] => "task");
    for (const place of joins) kinds[place] = "join";
    for (const place of gates) kinds[place] = "gate";
    const places: number[] = [];
    const shards = plan.runs.flatMap(([shard, count]) => Array<number>(count).fill(shard));
    for (const [i, ref] of refs.entries()) {
      const number = numberOf(root, i);
      const after = readEdges(edges[i] as string, places);
      for (const other of inFront.get(number) ?? []) after.push(...add(other));
      const shard = plan.shards[shards[i] as number] as string;
      places.push(nodes.push({ id: nodeId(flow, number), shard, ref, kind: kinds[i] ?? "task", after }) - 1);
    }
    const ends = readEdges(front?.[1] ?? "", places).map((end) => ({ ...end, on: on ?? end.on }));
    const first = on ?? ends[0]?.on;
    return [...(inFront.get(root) ?? []).flatMap((other) => add(other, first)), ...ends];
  }

  add(ROOT);
  const roots = Array.from(plans, ([root, { shards }]) =>
    shards.map((shard) => ({ id: nodeId(flow, root), shard })),
  ).flat();
  return { nodes, roots, fields: [layoutField(flow), ...names.map((name) => fieldOf(flow, name))] };
}

const readEdges = (text: string, places: readonly number[]): LayoutEdge[] =>
  readRuns(text).flatMap(({ letter, first, last }) =>
    places.slice(first, last + 1).map((from) => ({ from, on: EDGE_KINDS[letter] })),
  );

/** What a node waits for: runs of edges of one kind, to nodes behind each other. */
export function readRuns(text: string): { letter: Letter; first: number; last: number }[] {
  if (text === "") return [];
  return text.split(",").map((run) => {
    const [first = 0, last = first] = run.slice(1).split("-").map(Number);
    return { letter: run[0] as Letter, first, last };
  });
}

/** Writes what a node waits for as {@link AddedNodes} has it. */
export function edgesText(edges: readonly (readonly [letter: string, from: number])[]): string {
  const runs: [letter: string, first: number, last: number][] = [];
  for (const [letter, from] of edges) {
    const run = runs.at(-1);
    if (run && run[0] === letter && run[2] === from - 1) run[2] = from;
    else runs.push([letter, from, from]);
  }
  return runs
    .map(([letter, first, last]) => letter + String(first) + (last > first ? `-${last}` : ""))
    .join(",");
}
