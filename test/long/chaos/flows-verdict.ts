/** Whether flows went as their graphs say, by what Redis has written. */
import type { Evidence } from "./evidence.ts";
import type { KnownFlow } from "./flows-evidence.ts";
import {
  causesOf,
  completedAt,
  endedAt,
  type GraphNode,
  graphOf,
  hasFailed,
  isFailed,
  isSpared,
} from "./flows-graph.ts";
import { type History, isOfFlow, type TaskHistory, taskKey } from "./history.ts";

/** What happened to all flows, counted. */
export interface FlowTally {
  flows: number;
  completed: number;
  cancelled: number;
  redriven: number;
  /** Calls of `addBefore` that have added tasks. */
  grown: number;
  tasks: number;
  /** Tasks that were rejected because of another one. */
  fell: number;
  /** Tasks that ended as cancelled. */
  tasksCancelled: number;
  /** Tasks that ended more than once, as a redrive has made them ready or blocked again. */
  tasksAgain: number;
}

/** What a run has none of, so that nothing was checked of it. */
export const missingIn = (tally: FlowTally) =>
  (["completed", "grown", "fell"] as const).filter((what) => tally[what] === 0);

/** Compares flows with what Redis has written of their tasks. */
export function judgeFlows({ tasks }: History, { flows: { flows, growths } }: Evidence) {
  const byMark = new Map<string, TaskHistory>();
  for (const task of tasks.values()) if (task.mark !== undefined) byMark.set(task.mark, task);
  const tally: FlowTally = {
    flows: 0,
    completed: 0,
    cancelled: 0,
    redriven: 0,
    grown: 0,
    tasks: 0,
    fell: 0,
    tasksCancelled: 0,
    tasksAgain: 0,
  };
  const violations: string[] = [];
  for (const [id, known] of flows) {
    const nodes = graphOf(known, growths, byMark);
    const own = nodes.slice(0, known.plan.nodes.length);
    violations.push(...ofExistence(id, own, known.isAdded));
    if (!own.some(({ task }) => task)) continue;
    tally.flows++;
    if (nodes.every((node) => !isFailed(node))) tally.completed++;
    if (known.isCancelled) tally.cancelled++;
    if (known.isRedriven) tally.redriven++;
    for (const node of nodes) violations.push(...ofNode(id, node, nodes, known, tally));
  }
  for (const [mark, { plan, isAdded }] of growths) {
    const added = plan.nodes.flatMap(({ kind, ref }) =>
      kind === "task" ? [{ kind, task: byMark.get(`${mark}+${ref}`) }] : [],
    );
    if (added.some(({ task }) => task)) tally.grown++;
    violations.push(...ofExistence(`what ${mark} added`, added, isAdded));
  }
  return { tally, violations };
}

/** A flow exists as a whole, or not at all. */
function ofExistence(
  name: string,
  nodes: readonly Pick<GraphNode, "kind" | "task">[],
  isAdded: boolean,
): string[] {
  const all = nodes.filter(({ kind }) => kind === "task");
  const missing = all.filter(({ task }) => !task).length;
  if (missing === 0) return [];
  if (isAdded) return [`lost: ${missing} tasks of ${name}, which was acknowledged`];
  return missing < all.length ? [`${name} has ${all.length - missing} of its ${all.length} tasks`] : [];
}

function ofNode(
  flow: string,
  node: GraphNode,
  nodes: readonly GraphNode[],
  known: KnownFlow,
  tally: FlowTally,
): string[] {
  const { task } = node;
  if (!task) return [];
  tally.tasks++;
  const name = taskKey(task.queue, task.id);
  if (!isOfFlow(task.id) || !task.id.endsWith(`{${flow}}`)) return [`${name} is not of ${flow}`];
  if (task.ends.length > 1) tally.tasksAgain++;
  if (task.ends.length > 1 && !known.isRedriven)
    return [`${name} ended twice, and no process asked for a redrive`];
  const [first] = task.leases;
  if (first) return [...ofBegin(name, node, first.from), ...ofCancelled(name, node, nodes, known, tally)];
  if (task.reason === "dependency_failed") {
    tally.fell++;
    const causes = causesOf(node);
    if (causes.length === 0) return [`${name} fell, and all that it needs completed`];
    const named = JSON.parse(task.result.slice(1) || '""') as string;
    if (causes.some(({ id }) => id === named)) return [];
    return [`${name} fell because of ${named}, not of ${causes.map(({ id }) => id).join(" or ")}`];
  }
  return ofCancelled(name, node, nodes, known, tally);
}

/** A task began after what it waits for had ended, as its edges say. */
function ofBegin(name: string, { before }: GraphNode, at: number): string[] {
  return before.flatMap(({ from, needs }) => {
    const since = needs === "completed" ? completedAt(from) : endedAt(from);
    const what = from.task?.id ?? `the ${from.kind} ${from.ref}`;
    if (since > at)
      return [
        `${name} began at ${at}, and ${what} had not ${needs === "completed" ? "completed" : "ended"}: ${since}`,
      ];
    return needs === "failed" && !hasFailed(from) ? [`${name} began, and ${what} did not fail`] : [];
  });
}

/** A task ended as cancelled only for a reason that is true. */
function ofCancelled(
  name: string,
  node: GraphNode,
  nodes: readonly GraphNode[],
  { isCancelled, onFailure }: KnownFlow,
  tally: FlowTally,
): string[] {
  if (node.task?.reason !== "cancelled") return [];
  tally.tasksCancelled++;
  const isUnneeded = node.before.some(({ from, needs }) => needs === "failed" && !isFailed(from));
  if (isCancelled || isUnneeded) return [];
  if (onFailure !== "cancel") return [`${name} was cancelled, but no process asked for it`];
  const hasCause = nodes.some(
    ({ task }) => task?.ends.some(({ state }) => state === "rejected") && task.leases.length > 0,
  );
  if (!hasCause) return [`${name} was cancelled, and no task of its flow failed`];
  return isSpared(node) ? [`${name} was cancelled, though it waits only for ends`] : [];
}
