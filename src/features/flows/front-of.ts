/** In front of which node the tasks go that a task of a flow adds. */
import { invalidArgument } from "../../errors.ts";
import { nodeId, ROOT } from "../../kernel/linked/flow-names.ts";
import { type AddedNodes, numberOf, type Plans, readRuns } from "../../kernel/linked/flow-layout.ts";
import { derivedName } from "../../kernel/names/derived-ids.ts";
import type { FlowPlan } from "./graph/flow-plan.ts";

/** A node: the join behind those that were added with it, and its place among them. */
interface Place {
  readonly root: string;
  readonly at: number;
}

export interface Front {
  /** The node that is to wait: its number, its partition, and its edge that is open while the adding task works. */
  readonly number: string;
  readonly shard: string;
  /** Undefined for the join of added nodes: the record of the task says it. */
  readonly edge: number | undefined;
  /** The number of the join behind it; empty for such a join itself. */
  readonly behind: string;
  /** Whether what waits needs completion, or an end. */
  readonly letter: "c" | "e";
  /** The tasks to which the added ones are shown as what they wait for. */
  readonly shownTo: readonly { readonly id: string; readonly shard: string }[];
}

/** The numbers of joins behind added nodes: `g`, and ten characters. */
export const ADDED_ROOT = 11;

/**
 * The number of the join behind nodes that a task adds. A copy of the call gets the same.
 * @param id of the task
 * @param ref of what waits for it
 */
export async function addedRoot(id: string, ref: string, { nodes }: FlowPlan<unknown>): Promise<string> {
  const refs = nodes.map((node) => node.ref);
  const name = await derivedName("before", id, ref, JSON.stringify(refs));
  return `g${name.slice(0, ADDED_ROOT - 1)}`;
}

/** The place of a node, by its number. */
function placeOf(number: string): Place {
  const isAdded = number.startsWith("g");
  return isAdded
    ? { root: number.slice(0, ADDED_ROOT), at: Number(number.slice(ADDED_ROOT)) }
    : { root: ROOT, at: Number(number) };
}

export function refOf(plans: Plans, number: string): string {
  const { root, at } = placeOf(number);
  return plans.get(root)?.refs[at] ?? "";
}

/**
 * Finds the node that a ref names: one that waits for the task, or for the inner flow or the batch that the task is in.
 * @param number of the task
 * @throws {SluiceError} `invalid_argument`, with the refs that are possible
 */
export function frontOf(plans: Plans, flow: string, number: string, ref: string): Front {
  const own = refOf(plans, number);
  const names = [...prefixesOf(own).map((prefix) => prefix + ref), ref];
  const { root, at } = placeOf(number);
  const possible: string[] = [];

  /** Whether a ref names a node, or one that waits for the join that it is. */
  function isNamed(place: Place): boolean {
    const { refs, joins } = plans.get(place.root) as AddedNodes;
    const refsOf = [place.at, ...(joins.includes(place.at) ? followersOf(plans, place) : [])].map(
      (one) => refs[one] as string,
    );
    possible.push(...refsOf);
    return refsOf.some((one) => names.includes(one));
  }

  const plan = plans.get(root);
  if (!plan) throw invalidArgument("ref", "is of a flow that is not known");
  for (const follower of followersOf(plans, { root, at })) {
    if (!isNamed({ root, at: follower })) continue;
    const edges = readRuns(plan.edges[follower] as string).flatMap(({ letter, first, last }) =>
      Array.from({ length: last - first + 1 }, (_, i) => ({ letter, from: first + i })),
    );
    const edge = edges.findIndex(({ from }) => from === at);
    return {
      number: numberOf(root, follower),
      shard: shardOf(plan, follower),
      edge,
      behind: root,
      letter: edges[edge]?.letter === "c" ? "c" : "e",
      shownTo: shownTo(plans, flow, { root, at: follower }),
    };
  }
  if (root !== ROOT) {
    const end = endOf(plans, root);
    if (isNamed(end)) {
      const letter = readRuns(plan.front?.[1] ?? "")[0]?.letter === "c" ? "c" : "e";
      const shard = plan.shards[0] as string;
      return { number: root, shard, edge: undefined, behind: "", letter, shownTo: shownTo(plans, flow, end) };
    }
  }
  const instead = possible.length > 0 ? `; these do: ${[...new Set(possible)].join(", ")}` : "";
  throw invalidArgument("ref", `names ${ref}, which does not wait for this task${instead}`);
}

/** `a/`, and `a/b/`, of `a/b/c`: the longest first. */
const prefixesOf = (ref: string) =>
  ref
    .split("/")
    .slice(0, -1)
    .map((_, i, parts) => `${parts.slice(0, i + 1).join("/")}/`)
    .toReversed();

/** The node in front of which nodes were added, also through those that were added before it in the same way. */
function endOf(plans: Plans, root: string): Place {
  let next = plans.get(root)?.front?.[0] as string;
  while (next.length === ADDED_ROOT && next.startsWith("g")) next = plans.get(next)?.front?.[0] as string;
  return placeOf(next);
}

function followersOf(plans: Plans, { root, at }: Place): number[] {
  const { edges } = plans.get(root) as AddedNodes;
  return [...edges.keys()].filter((node) =>
    readRuns(edges[node] as string).some(({ first, last }) => first <= at && at <= last),
  );
}

function shardOf({ shards, runs }: AddedNodes, place: number): string {
  let left = place;
  const run = runs.find(([, count]) => (left -= count) < 0);
  return shards[run?.[0] as number] as string;
}

/** A task itself; behind a gate, and the join of a batch, those that wait for it. */
function shownTo(plans: Plans, flow: string, place: Place): { id: string; shard: string }[] {
  const plan = plans.get(place.root) as AddedNodes;
  if (plan.gates.includes(place.at) || plan.batch === place.at)
    return followersOf(plans, place).flatMap((at) => shownTo(plans, flow, { root: place.root, at }));
  if (plan.joins.includes(place.at)) return [];
  return [{ id: nodeId(flow, numberOf(place.root, place.at)), shard: shardOf(plan, place.at) }];
}
