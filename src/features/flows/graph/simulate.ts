/** What the edges of a flow mean, as a program without Redis. */
import { followersOf, type FlowPlan } from "./flow-plan.ts";

/** `ready` is a task that may be delivered, until it is. Joins and gates are only `blocked`, or ended. */
export type NodeState = "blocked" | "ready" | "working" | "completed" | "rejected";

/**
 * Why a node is rejected: on its own (for good, or after its last attempt), because what it waited for did not complete,
 * or because it was cancelled, or not needed, as all of a batch has completed. A join is so with `dependency_failed`.
 */
export type NodeReason = "rejected" | "dependency_failed" | "cancelled";

/** What one step has changed: numbers of nodes, ascending. */
export interface Changes {
  /** Were blocked, and are ready now. */
  readonly released: readonly number[];
  /** Were blocked, and are rejected now, because what they waited for did not complete. */
  readonly fallen: readonly number[];
  /** Had not ended, and are rejected as cancelled now. */
  readonly cancelled: readonly number[];
  /** Were rejected as `dependency_failed`, and are blocked again. */
  readonly blocked: readonly number[];
  /** Are working, and are to stop. */
  readonly flagged: readonly number[];
}

export interface Simulation {
  stateOf(node: number): NodeState;
  /** Undefined unless the node is rejected. */
  reasonOf(node: number): NodeReason | undefined;
  /** The task that a node with the reason `dependency_failed` names: the next before it that did not complete. */
  failedBefore(node: number): number | undefined;
  /** Whether each node has ended. */
  readonly hasEnded: boolean;
  /** A ready task is delivered. */
  begin(task: number): void;
  /** A working task waits again, as ready, or ends as cancelled if it is to stop. */
  putBack(task: number): Changes;
  /** A ready or working task ends. One that is to stop ends as cancelled, unless it completes. */
  end(task: number, as: "completed" | "rejected"): Changes;
  /** Cancels a task that is blocked or ready. One that is working is to stop. What has ended stays as it is. */
  cancel(task: number): Changes;
  /** Cancels all tasks, the last ones first, so that none is rejected because of another. */
  cancelAll(): Changes;
  /**
   * Makes a task ready again that was rejected on its own. What fell with it is blocked again, unless it waits for
   * another one that did not complete. Tasks that were released stay so, and inner flows that have begun. Does nothing
   * to any other task.
   */
  redrive(task: number): Changes;
}

export interface SimulationOptions {
  /**
   * `cancel`: once a task is rejected on its own, all that has not ended is cancelled, after what waits for its
   * completion has fallen. Spared is what waits for ends only, or for what is spared.
   */
  readonly onFailure?: "cancel" | undefined;
}

interface Status {
  state: NodeState;
  reason: NodeReason | undefined;
  /** The task that a fallen node names. */
  because: number | undefined;
  isFlagged: boolean;
  /** How many of its edges have a source that has not ended. */
  open: number;
  /** How many of its edges have a source that ended otherwise than they need; of a join, than completed. */
  failed: number;
  /** How many of its edges need a failure, and have a source that completed. */
  missed: number;
}

/**
 * Begins a flow. A blocked node is one of whose edges a source has not ended *now*: if that source is redriven, the node
 * waits for it again.
 */
export function simulate<Q>({ nodes, edges }: FlowPlan<Q>, options: SimulationOptions = {}): Simulation {
  const { first, list, to } = followersOf(edges);
  const all = nodes.map((_, node): Status => {
    const open = (edges.before[node + 1] as number) - (edges.before[node] as number);
    const nothing = { reason: undefined, because: undefined, isFlagged: false };
    return { state: "blocked", ...nothing, open, failed: 0, missed: 0 };
  });
  /** What the nodes were that a step has changed, with their flags. */
  let touched = new Map<number, Status>();

  const at = (node: number) => all[node] as Status;
  const isJoin = (node: number) => nodes[node]?.kind === "join";
  const isOver = ({ state }: Status) => state === "completed" || state === "rejected";

  function edgesBefore(node: number): number[] {
    const [begin, end] = [edges.before[node] as number, edges.before[node + 1] as number];
    return Array.from({ length: end - begin }, (_, i) => begin + i);
  }

  function set(node: number, change: Partial<Status>): void {
    if (!touched.has(node)) touched.set(node, { ...at(node) });
    Object.assign(at(node), change);
  }

  /** The edges to followers of a node, whatever has become of these. */
  function behind(node: number): {
    readonly follower: number;
    readonly counts: boolean;
    readonly mustFail: boolean;
  }[] {
    const found = [...list.subarray(first[node], first[node + 1])];
    return found.map((edge) => {
      const follower = to[edge] as number;
      const counts = edges.mustComplete[edge] === 1 || isJoin(follower);
      return { follower, counts, mustFail: edges.mustFail[edge] === 1 };
    });
  }

  /** Ends a node, and all that ends with it. */
  function settle(node: number, state: "completed" | "rejected", reason?: NodeReason): void {
    set(node, { state, reason, because: undefined, isFlagged: false });
    const ended = [node];
    for (const one of ended) {
      for (const { follower, counts, mustFail } of behind(one)) {
        const status = at(follower);
        status.open--;
        if (counts && at(one).state === "rejected") status.failed++;
        if (mustFail && at(one).state === "completed") status.missed++;
        if (follow(follower)) ended.push(follower);
      }
    }
  }

  /** Lets a blocked node go on if it need not wait any longer. Returns whether it has ended. */
  function follow(node: number): boolean {
    const { state, open, failed, missed } = at(node);
    const mustWait = isJoin(node) ? open > 0 : open > 0 && failed + missed === 0;
    if (state !== "blocked" || mustWait) return false;
    if (failed === 0 && missed > 0) set(node, { state: "rejected", reason: "cancelled" });
    else if (failed > 0)
      set(node, { state: "rejected", reason: "dependency_failed", because: causeOf(node) });
    else set(node, { state: nodes[node]?.kind === "task" ? "ready" : "completed" });
    return at(node).state !== "ready";
  }

  /** The task that a fallen node names: the source of its first edge that failed, or what made that source fall. */
  function causeOf(node: number): number | undefined {
    const edge = edgesBefore(node).find((one) => {
      const isNeeded = edges.mustComplete[one] === 1 || isJoin(node);
      return isNeeded && at(edges.from[one] as number).state === "rejected";
    });
    const source = edge === undefined ? undefined : edges.from[edge];
    return source === undefined || nodes[source]?.kind === "task" ? source : at(source).because;
  }

  /** Blocks again what fell with a node that has not ended any more. */
  function unsettle(node: number): void {
    const open = [node];
    for (const one of open) {
      for (const { follower, counts } of behind(one)) {
        const status = at(follower);
        status.open++;
        if (counts) status.failed--;
        if (status.reason !== "dependency_failed") continue;
        if (isJoin(follower) || status.failed === 0) {
          set(follower, { state: "blocked", reason: undefined, because: undefined });
          open.push(follower);
        } else {
          set(follower, { because: causeOf(follower) });
        }
      }
    }
  }

  function cancelOne(node: number): void {
    const status = at(node);
    if (nodes[node]?.kind !== "task" || isOver(status)) return;
    if (status.state === "working") set(node, { isFlagged: true });
    else settle(node, "rejected", "cancelled");
  }

  function cancelEach(isSpared?: (node: number) => boolean): void {
    for (let node = nodes.length - 1; node >= 0; node--) if (!isSpared?.(node)) cancelOne(node);
  }

  /** Whether a node is there to clean up. */
  function isSpared(node: number): boolean {
    const before = edgesBefore(node);
    const isEnd = (edge: number) => !edges.mustComplete[edge] && !isJoin(node);
    return before.length > 0 && before.every((edge) => isEnd(edge) || isSpared(edges.from[edge] as number));
  }

  /** Does a step, and finds what it has changed. */
  function step(change: () => void): Changes {
    touched = new Map();
    change();
    const changed = [...touched.keys()].toSorted((one, other) => one - other);
    const which = (test: (now: Status, was: Status) => boolean) =>
      changed.filter((node) => test(at(node), touched.get(node) as Status));
    return {
      released: which((now, was) => was.state === "blocked" && now.state === "ready"),
      fallen: which((now, was) => was.state === "blocked" && now.reason === "dependency_failed"),
      cancelled: which((now, was) => !isOver(was) && now.reason === "cancelled"),
      blocked: which((now, was) => was.state === "rejected" && now.state === "blocked"),
      flagged: which((now, was) => now.isFlagged && !was.isFlagged),
    };
  }

  for (const node of nodes.keys()) if (at(node).open === 0 && follow(node)) settle(node, "completed");

  return {
    stateOf: (node) => at(node).state,
    reasonOf: (node) => at(node).reason,
    failedBefore: (node) => at(node).because,
    get hasEnded() {
      return all.every(isOver);
    },
    begin(task) {
      if (at(task).state === "ready") set(task, { state: "working" });
    },
    putBack: (task) =>
      step(() => {
        if (at(task).state !== "working") return;
        if (at(task).isFlagged) settle(task, "rejected", "cancelled");
        else set(task, { state: "ready" });
      }),
    end: (task, as) =>
      step(() => {
        const { state, isFlagged } = at(task);
        if (state !== "ready" && state !== "working") return;
        if (as === "rejected" && isFlagged) settle(task, "rejected", "cancelled");
        else settle(task, as, as === "rejected" ? "rejected" : undefined);
        if (at(task).reason === "rejected" && options.onFailure === "cancel") cancelEach(isSpared);
      }),
    cancel: (task) => step(() => cancelOne(task)),
    cancelAll: () => step(() => cancelEach()),
    redrive: (task) =>
      step(() => {
        if (at(task).reason !== "rejected") return;
        set(task, { state: "ready", reason: undefined });
        unsettle(task);
      }),
  };
}
