/** All flows of a run, over its queues. */
import { planFlow } from "../../../../src/features/flows/index.ts";
import { makeReady, newEnds, putInLine } from "../transitions.ts";
import { cancelAlive } from "../operate.ts";
import { placesLeft } from "../limits.ts";
import { newTask, type QueueState, report, scoreWhenDue } from "../state.ts";
import { hasEnded, type Node, outcomeOf, QueueNodes } from "./nodes.ts";
import type { FlowOperationItem } from "./operations.ts";
import {
  type Entry,
  type Follower,
  type ModelEdge,
  type ModelFlow,
  nodeId,
  type PlannedNode,
  type QueueName,
} from "./state.ts";

/** Nodes to add to one queue, in their order. */
interface Piece {
  readonly queue: QueueName;
  readonly nodes: readonly Node[];
}

export class Flows {
  readonly #queues: ReadonlyMap<QueueName, QueueNodes>;
  readonly #known = new Map<string, ModelFlow>();
  /** Nodes that a queue has not got yet, by the member that says so. */
  readonly #pieces = new Map<string, Piece>();

  constructor(queues: ReadonlyMap<QueueName, QueueState>) {
    this.#queues = new Map(
      Array.from(queues, ([name, queue]) => {
        const nodes = new QueueNodes(name, queue);
        queue.flows = nodes;
        return [name, nodes];
      }),
    );
  }

  nodes(name: QueueName): QueueNodes {
    return this.#queues.get(name) as QueueNodes;
  }

  /** The last flows, the newest one first. */
  get newest(): readonly ModelFlow[] {
    return [...this.#known.values()].toReversed();
  }

  flow(id: string): ModelFlow | undefined {
    return this.#known.get(id);
  }

  /** Whether its home says what it is made of. */
  isKnown({ home, fields }: ModelFlow): boolean {
    return this.nodes(home).fields.has(fields[0] as string);
  }

  remove(from: QueueName, member: string): void {
    const { queue, fields } = this.nodes(from);
    queue.expiry.delete(member);
    fields.delete(member);
  }

  /** The outbox of a queue, as a call reads it. */
  entriesOf(name: QueueName): Entry[] {
    const { queue } = this.nodes(name);
    const members = [...queue.expiry.keys()].filter((member) => member.startsWith("~x:")).toSorted();
    return members.map((member): Entry => {
      const [, root, mode] = /^~x:(.*\}) !([af]) /.exec(member) ?? [];
      if (root !== undefined) {
        const flow = this.#known.get(root.slice("flow{".length, -1)) as ModelFlow;
        return { from: name, member, work: { does: "cancel", flow, mode: mode as "a" | "f" } };
      }
      if (this.#pieces.has(member)) return { from: name, member, work: { does: "add" } };
      const id = member.slice("~x:".length);
      const node = this.nodes(name).node(id);
      // Its record is gone, so it notifies none.
      if (!node) return { from: name, member, work: { does: "add" } };
      const outcome = hasEnded(node) ? outcomeOf(node) : "open";
      const because = (node.node.kind !== "task" && (node.text as string | undefined)) || id;
      const work = { does: "notify", node, outcome, because } as const;
      return { from: name, member, work, followers: node.node.followers };
    });
  }

  /** Adds a flow: what its home gets at once. @returns the flow, or why it is not added */
  add(
    id: string,
    items: readonly FlowOperationItem[],
    now: number,
    { nth, onFailure }: { readonly nth: number; readonly onFailure: "cancel" | undefined },
  ): { readonly flow: ModelFlow; readonly by: "this" | "copy" | "others" } | "queue_full" {
    const { planned, home, records, isOver } = planOf(items);
    const flowId = `${id}@${home}`;
    const before = this.#known.get(flowId);
    const root = this.nodes(home).joins.get(`flow{${flowId}}`);
    if (before && root) return { flow: before, by: before.nth === nth ? "copy" : "others" };
    const flow: ModelFlow = {
      id: flowId,
      home,
      cancels: onFailure === "cancel",
      nodes: planned,
      fields: [`~F:${flowId}`, `~F:${flowId} flow.0.1`],
      roots: [],
      members: [],
      nth,
    };
    const pieces = piecesOf(flow, planned, isOver, records, now);
    const own = pieces.find(({ queue }) => queue === home) as Piece;
    const ready = own.nodes.filter(({ node }) => !node.edges && node.delay === 0).length;
    const { queue, fields } = this.nodes(home);
    if (ready > 0 && placesLeft(queue) < ready) return "queue_full";
    this.#known.set(flowId, flow);
    for (const field of flow.fields) fields.add(field);
    this.#begin(own, now);
    for (const piece of pieces) {
      if (piece === own) continue;
      const member = `~x:flow{${flowId}} 000000 ${piece.queue}`;
      this.#pieces.set(member, piece);
      flow.members.push(member);
      fields.add(member);
      this.nodes(home).leave({ from: home, member, work: { does: "add" } });
    }
    return { flow, by: "this" };
  }

  /** Adds nodes that a queue has not got yet. */
  addPiece(member: string, now: number): void {
    const piece = this.#pieces.get(member) as Piece;
    const { queue, joins } = this.nodes(piece.queue);
    const [first] = piece.nodes;
    if (first && (joins.has(first.id) || queue.tasks.has(first.id))) return;
    this.#begin(piece, now);
  }

  #begin({ queue: name, nodes }: Piece, now: number): void {
    const all = this.nodes(name);
    const ends = newEnds();
    for (const given of nodes) {
      const node = { ...given, enqueuedAt: now };
      if (node.node.kind === "task") all.queue.tasks.set(node.id, node);
      else all.joins.set(node.id, node);
      if (node.node.edges) all.block(node);
      else if (node.node.delay > 0) {
        node.state = "delayed";
        all.queue.delayed.set(node.id, scoreWhenDue(node, now + node.node.delay));
      } else makeReady(all.queue, node, ends, "back");
    }
    putInLine(all.queue, ends);
    const tasks = nodes.filter(({ node }) => node.kind === "task");
    report(all.queue, "enqueued", now, tasks.length);
  }

  /** Cancels nodes in one queue. @returns what it leaves to be notified */
  cancelNodes(
    name: QueueName,
    ids: readonly string[],
    now: number,
    sum: { cancelled: number; flagged: number; unknown: number },
  ): readonly Entry[] {
    const nodes = this.nodes(name);
    nodes.left = [];
    for (const id of ids) {
      const task = nodes.queue.tasks.get(id);
      if (!task) sum.unknown++;
      else if (task.state !== "ghost" && !hasEnded(task)) {
        const wasFlagged = task.flagged;
        const state = cancelAlive(nodes.queue, now, task);
        if (state === "rejected") sum.cancelled++;
        else if (!wasFlagged) sum.flagged++;
      }
    }
    nodes.follow();
    return nodes.left;
  }
}

interface Planned {
  readonly planned: readonly PlannedNode[];
  readonly home: QueueName;
  readonly records: readonly (FlowOperationItem | undefined)[];
  /** For each node, whether it has ended when the flow is added. */
  readonly isOver: readonly boolean[];
}

export function planOf(items: readonly FlowOperationItem[]): Planned {
  const { nodes, edges } = planFlow(items as never);
  const home = nodes.find(({ task }) => task)?.task?.queue as QueueName;
  const isOver: boolean[] = [];
  const planned = nodes.map(({ kind, ref, task }, node): PlannedNode => {
    const after = Array.from(edges.from.subarray(edges.before[node], edges.before[node + 1]), (from, i) => {
      const mustComplete = edges.mustComplete[(edges.before[node] as number) + i] === 1;
      return { from, needs: mustComplete ? ("completed" as const) : ("ended" as const) };
    });
    isOver.push(kind !== "task" && after.every(({ from }) => isOver[from]));
    return { number: String(node), queue: (task?.queue as QueueName | undefined) ?? home, kind, ref, after };
  });
  return {
    planned,
    home,
    records: nodes.map(({ task }) => task as FlowOperationItem | undefined),
    isOver,
  };
}

/** The nodes of each queue, in the order in which they are added: those that wait first, the last ones first. */
function piecesOf(
  flow: ModelFlow,
  planned: readonly PlannedNode[],
  isOver: readonly boolean[],
  records: readonly (FlowOperationItem | undefined)[],
  now: number,
): Piece[] {
  const living = [...planned.entries()].filter(([place]) => !isOver[place]);
  const queues = [...new Set([flow.home, ...living.map(([, { queue }]) => queue)])];
  const rootOf = (queue: QueueName) => living.filter(([, one]) => one.queue === queue);
  const followers = (place: number, queue: QueueName): Follower[] => {
    const all = planned.flatMap(({ number, queue: own, after }) =>
      after.flatMap(({ from }, edge) => (from === place ? [{ queue: own, number, edge }] : [])),
    );
    const edge = rootOf(queue).findIndex(([other]) => other === place);
    const own = all.filter((one) => one.queue === queue);
    return [...own, { queue, number: "flow", edge }, ...all.filter((one) => one.queue !== queue)];
  };
  const ended = (count: number): ModelEdge[] =>
    Array.from({ length: count }, () => ({ needs: "ended", state: "open" }));
  return queues.map((queue, i) => {
    const own = rootOf(queue);
    const isHome = queue === flow.home;
    flow.roots.push({ number: "flow", queue });
    const root = nodeOf(flow, "flow", "join", now, {
      edges: ended(own.length + (isHome ? queues.length - 1 : 0)),
      followers: isHome
        ? undefined
        : [{ queue: flow.home, number: "flow", edge: rootOf(flow.home).length + i - 1 }],
    });
    const nodes = own.map(([place, { number, kind, after }]) => {
      const edges = after.map(({ needs, from }): ModelEdge => {
        return isOver[from] ? { needs: "ended", state: "completed" } : { needs, state: "open" };
      });
      const waits = edges.some(({ state }) => state === "open");
      return nodeOf(flow, number, kind, now, {
        edges: waits ? edges : undefined,
        followers: followers(place, queue),
        before: kind === "task" ? beforeOf(planned, place) : [],
        item: records[place],
      });
    });
    const waiting = nodes.filter(({ node }) => node.edges);
    const ready = nodes.filter(({ node }) => !node.edges);
    return { queue, nodes: [root, ...waiting.toReversed(), ...ready] };
  });
}

/** What a task waits for, as it was written: not the gates between. */
function beforeOf(planned: readonly PlannedNode[], place: number): PlannedNode[] {
  return (planned[place] as PlannedNode).after.flatMap(({ from }) => {
    const source = planned[from] as PlannedNode;
    return source.kind === "gate" ? beforeOf(planned, from) : [source];
  });
}

function nodeOf(
  flow: ModelFlow,
  number: string,
  kind: "task" | "join" | "gate",
  now: number,
  {
    edges,
    followers,
    before = [],
    item,
  }: {
    readonly edges: ModelEdge[] | undefined;
    readonly followers: readonly Follower[] | undefined;
    readonly before?: readonly PlannedNode[];
    readonly item?: FlowOperationItem | undefined;
  },
): Node {
  const task = item && "payload" in item ? item : undefined;
  const made = newTask({
    id: nodeId(flow, number),
    payload: task?.payload,
    headers: task?.headers,
    group: task?.group,
    priority: task?.priority,
    producer: `flow ${flow.id}`,
    enqueuedAt: now,
    fixedLease: task?.lease,
    maxAttempts: task?.maxAttempts ?? 10,
    resultTtl: task?.resultTtl ?? 3_600_000,
    deadTtl: task?.deadTtl ?? 604_800_000,
    uniqueFor: 0,
    version: 1,
    ghosts: 0,
  });
  const node = { flow, number, kind, edges, followers, before, delay: task?.delay ?? 0 };
  return Object.assign(made, { node });
}
