import type { FlowTask } from "./flow-items.ts";

/** A task, or a place where edges meet. */
export interface FlowNode<Q> {
  /**
   * A `join` is an inner flow as a whole: it ends when all before it have ended, as `completed` if all of them completed,
   * else as rejected. A `gate` is what several tasks of an inner flow wait for together: it ends as a task would that
   * completes at once.
   */
  readonly kind: "task" | "join" | "gate";
  /** Unique among tasks and joins. Behind the refs of the flows it is in, such as `audit/rows`. A gate has that of its flow. */
  readonly ref: string;
  /** Where the caller wrote it, for errors. */
  readonly path: string;
  /** Undefined for a join and a gate. */
  readonly task: FlowTask<Q> | undefined;
}

/**
 * The edges of a flow, ordered by the node that waits, and there as the caller wrote them. `before[node]` is its first
 * edge, and `before[node + 1]` the one after its last.
 */
export interface FlowEdges {
  readonly before: Uint32Array;
  /** For each edge, the node that must end first. It has the smaller number. */
  readonly from: Uint32Array;
  /** For each edge, 1 if that node must complete; 0 if it may end in any way. All of a join are 0. */
  readonly mustComplete: Uint8Array;
  /** For each edge, 1 if that node must not complete. Only batches have such edges. */
  readonly mustFail: Uint8Array;
}

export interface FlowPlan<Q> {
  /** Each behind all that it waits for. */
  readonly nodes: readonly FlowNode<Q>[];
  readonly edges: FlowEdges;
  /** The join of a batch: its callbacks wait for what that one waits for. @default it is no batch */
  readonly batch?: number | undefined;
}

/** The edges by the node that others wait for: those of a node are `list[first[node]]` to `list[first[node + 1] - 1]`. */
export interface Followers {
  readonly first: Uint32Array;
  /** Numbers of edges. */
  readonly list: Uint32Array;
  /** For each edge, the node that waits. */
  readonly to: Uint32Array;
}

/** Orders edges by the node that others wait for. */
export function followersOf({ before, from }: FlowEdges): Followers {
  const nodes = before.length - 1;
  const first = new Uint32Array(nodes + 1);
  for (const node of from) first[node + 1] = (first[node + 1] as number) + 1;
  for (let node = 0; node < nodes; node++) {
    first[node + 1] = (first[node + 1] as number) + (first[node] as number);
  }
  const next = first.slice();
  const list = new Uint32Array(from.length);
  const to = new Uint32Array(from.length);
  for (let node = 0; node < nodes; node++) {
    for (let edge = before[node] as number; edge < (before[node + 1] as number); edge++) {
      const source = from[edge] as number;
      list[next[source] as number] = edge;
      next[source] = (next[source] as number) + 1;
      to[edge] = node;
    }
  }
  return { first, list, to };
}
