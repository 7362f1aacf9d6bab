import { invalidArgument } from "../../../errors.ts";
import type { FlowItem, FlowTask } from "./flow-items.ts";
import type { FlowNode, FlowPlan } from "./flow-plan.ts";
import { planFlow } from "./plan-flow.ts";

/** The ref of a batch as a whole. */
const BATCH = "batch";

/** A task of a batch. @typeParam Q what its queue is */
export type BatchTask<Q, T = unknown> = Omit<FlowTask<Q, T>, "ref" | "after"> & {
  /** @default its place in the list, from 1 */
  readonly ref?: string | undefined;
};

/** Tasks that begin once all tasks of a batch have ended. Their refs are these names. */
export interface BatchCallbacks<Q> {
  /** If all of them completed. Else it is rejected with the reason `dependency_failed`. */
  readonly completed?: Omit<BatchTask<Q>, "ref"> | undefined;
  /** If one of them did not complete. Else it ends as cancelled. */
  readonly failed?: Omit<BatchTask<Q>, "ref"> | undefined;
  /** In any case. */
  readonly ended?: Omit<BatchTask<Q>, "ref"> | undefined;
}

const CALLBACKS = ["completed", "failed", "ended"] as const;

/**
 * Plans a batch: a join behind all tasks, and behind that the callbacks.
 * @throws {SluiceError} `invalid_argument`
 */
export function planBatch<Q>(tasks: readonly BatchTask<Q>[], callbacks: BatchCallbacks<Q>): FlowPlan<Q> {
  if (!Array.isArray(tasks) || tasks.length === 0)
    throw invalidArgument("tasks", "must have at least one task");
  const items = tasks.map((task: BatchTask<Q>, i): FlowItem<Q> => {
    const { ref = String(i + 1) } = task;
    if (ref === BATCH || CALLBACKS.some((name) => name === ref))
      throw invalidArgument(`tasks[${i}].ref`, `must not be ${[BATCH, ...CALLBACKS].join(", ")}`);
    return { ...task, ref };
  });
  const { nodes: own, edges } = planFlow(items);
  if (!own.some(({ kind }) => kind === "task")) throw invalidArgument("tasks", "must have at least one task");
  const nodes: FlowNode<Q>[] = [...own, { kind: "join", ref: BATCH, path: "tasks", task: undefined }];
  const from = [...edges.from, ...own.keys()];
  const before = [...edges.before, from.length];
  const [mustComplete, mustFail] = [[...edges.mustComplete], [...edges.mustFail]];
  for (const name of CALLBACKS) {
    const task = callbacks[name];
    if (task === undefined) continue;
    if (typeof task !== "object") throw invalidArgument(name, "must be a task, { queue, payload }");
    nodes.push({ kind: "task", ref: name, path: name, task: { ...task, ref: name } });
    const edge = from.push(own.length) - 1;
    before.push(edge + 1);
    mustComplete[edge] = name === "completed" ? 1 : 0;
    mustFail[edge] = name === "failed" ? 1 : 0;
  }
  const marks = (list: readonly number[]) => Uint8Array.from(from, (_, edge) => list[edge] ?? 0);
  return {
    nodes,
    edges: {
      before: Uint32Array.from(before),
      from: Uint32Array.from(from),
      mustComplete: marks(mustComplete),
      mustFail: marks(mustFail),
    },
    batch: own.length,
  };
}
