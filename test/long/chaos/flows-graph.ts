/** A flow as it grew, with what happened to each of its tasks. */
import type { FlowPlan } from "../../../src/features/flows/graph/flow-plan.ts";
import { type Growth, type KnownFlow, markOf } from "./flows-evidence.ts";
import type { TaskHistory } from "./history.ts";

export type Needs = "completed" | "ended" | "failed";

export interface GraphNode {
  readonly kind: "task" | "join" | "gate";
  readonly ref: string;
  readonly mark: string | undefined;
  /** Undefined for a join and a gate, and for a task that Redis never wrote. */
  readonly task: TaskHistory | undefined;
  /** What it waits for. */
  readonly before: { readonly from: GraphNode; readonly needs: Needs }[];
}

/** @param byMark the tasks that Redis has written */
export function graphOf(
  { plan }: KnownFlow,
  growths: ReadonlyMap<string, Growth>,
  byMark: ReadonlyMap<string, TaskHistory>,
): GraphNode[] {
  const nodes = nodesOf(plan, byMark);
  for (const node of nodes) {
    const growth = node.mark === undefined ? undefined : growths.get(node.mark);
    if (!growth) continue;
    const added = nodesOf(growth.plan, byMark);
    // Nothing waits for tasks that were never added.
    if (!added.some(({ task }) => task)) continue;
    const names = [node.ref.replace(/[^/]*$/, growth.ref), growth.ref];
    const follows = (one: GraphNode) => one.before.some(({ from }) => from === node);
    const front =
      nodes.find((one) => names.includes(one.ref) && follows(one)) ??
      (plan.batch === undefined ? undefined : nodes[plan.batch]);
    const needs = front?.before.find(({ from }) => from === node)?.needs ?? "ended";
    for (const one of added) front?.before.push({ from: one, needs });
    nodes.push(...added);
  }
  return nodes;
}

function nodesOf(plan: FlowPlan<string>, byMark: ReadonlyMap<string, TaskHistory>): GraphNode[] {
  const { before, from, mustComplete, mustFail } = plan.edges;
  const nodes: GraphNode[] = [];
  for (const [place, { kind, ref }] of plan.nodes.entries()) {
    const mark = markOf(plan, place);
    const edges = Array.from({ length: (before[place + 1] ?? 0) - (before[place] ?? 0) }, (_, i) => {
      const edge = (before[place] ?? 0) + i;
      const needs: Needs = mustComplete[edge] ? "completed" : mustFail[edge] ? "failed" : "ended";
      return { from: nodes[from[edge] as number] as GraphNode, needs };
    });
    nodes.push({ kind, ref, mark, task: byMark.get(mark ?? ""), before: edges });
  }
  return nodes;
}

/** When a node had ended first, at the earliest. A task that is redriven ends again. */
export function endedAt(node: GraphNode): number {
  if (node.kind === "task") return node.task?.ends[0]?.at ?? Infinity;
  if (node.kind === "join") return Math.max(0, ...node.before.map(({ from }) => endedAt(from)));
  const failures = node.before.filter(({ from, needs }) => needs === "completed" && hasFailed(from));
  return Math.min(completedAt(node), ...failures.map(({ from }) => endedAt(from)));
}

/** When a node completed; infinite if it did not. */
export function completedAt(node: GraphNode): number {
  if (node.kind === "task") return node.task?.state === "completed" ? node.task.endedAt : Infinity;
  const ends = node.before.map(({ from, needs }) =>
    node.kind === "join" || needs === "completed" ? completedAt(from) : endedAt(from),
  );
  return Math.max(0, ...ends);
}

/** Whether a node failed at some time. */
export function hasFailed(node: GraphNode): boolean {
  if (node.kind === "task") return node.task?.ends.some(({ state }) => state === "rejected") ?? false;
  return node.before.some(
    ({ from, needs }) => (node.kind === "join" || needs === "completed") && hasFailed(from),
  );
}

/** Whether a node ended otherwise than completed, in the end. */
export const isFailed = (node: GraphNode) => completedAt(node) === Infinity;

/** The tasks that a node which fell may name: the nearest ones that did not complete. */
export function causesOf(node: GraphNode): TaskHistory[] {
  return node.before.flatMap(({ from, needs }) => {
    if (!(node.kind === "join" || needs === "completed") || !isFailed(from)) return [];
    return from.kind === "task" ? (from.task ?? []) : causesOf(from);
  });
}

/** Whether `onFailure: "cancel"` spares a node: it waits only for ends, or for what is spared. */
export function isSpared({ before, kind }: GraphNode): boolean {
  const isEnd = (needs: Needs) => needs !== "completed" && kind !== "join";
  return before.length > 0 && before.every(({ from, needs }) => isEnd(needs) || isSpared(from));
}
