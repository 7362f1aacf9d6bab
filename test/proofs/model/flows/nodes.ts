/** The nodes of flows in one queue: they follow what they wait for, at the end of each change. */
import type { RejectReason } from "../../../../src/index.ts";
import { finish, makeReady, newEnds, putInLine } from "../transitions.ts";
import { isGrouped, type ModelTask, type QueueState, transition } from "../state.ts";
import {
  type Entry,
  lettersOf,
  type ModelEdge,
  NEVER,
  NEVER_DELIVERED,
  type ModelNode,
  type Outcome,
  type QueueName,
  UNTIL_THE_END,
} from "./state.ts";

/** How long a join or gate is kept after the end of its flow, ms. */
const JOIN_TTL = 604_800_000;

/** What one notice says. */
interface Notice {
  readonly edge: number;
  readonly outcome: Outcome;
  readonly because: string;
}

export interface Notified extends Notice {
  readonly number: string;
  readonly flow: string;
}

export type Node = ModelTask & { readonly node: ModelNode };

export class QueueNodes {
  readonly name: QueueName;
  readonly queue: QueueState;
  /** Joins and gates, by id. */
  readonly joins = new Map<string, Node>();
  /** Fields that are kept for flows: what they are made of, and what other queues have not got yet. */
  readonly fields = new Set<string>();
  /** What the last script has left to be notified, or to be cancelled. */
  left: Entry[] = [];
  /** Whether the script notifies no node itself. */
  leavesAll = false;
  #ended: { readonly node: Node; readonly outcome: Outcome }[] = [];
  #now = 0;

  constructor(name: QueueName, queue: QueueState) {
    this.name = name;
    this.queue = queue;
  }

  /** A node by its id. */
  node(id: string): Node | undefined {
    const found = this.joins.get(id) ?? this.queue.tasks.get(id);
    return found?.node && (found as Node);
  }

  /** The fields that are kept for flows, with those that say what tasks wait for. */
  get allFields(): string[] {
    const waiting = [...this.queue.tasks.values()].filter(({ node }) => (node?.before.length ?? 0) > 0);
    return [...this.fields, ...waiting.map(({ id }) => `~p:${id}`)];
  }

  /** How many nodes have not ended. */
  get living(): number {
    const all = [...this.joins.values(), ...this.queue.tasks.values()];
    return all.filter((task) => task.node && !hasEnded(task)).length;
  }

  block(task: Node): void {
    task.state = "blocked";
    const score = task.node.kind === "task" ? NEVER + (isGrouped(task) ? 0.5 : 0) : NEVER_DELIVERED;
    this.queue.blocked.set(task.id, score);
  }

  /** Notes that a task has ended, after it did. @param given how long it is kept, if not as it says, ms */
  noteEnd(task: ModelTask, now: number, given: number | undefined): void {
    const one = task as Node;
    const { node, reason } = one;
    const own = given ?? (one.state === "completed" ? one.resultTtl : one.deadTtl);
    node.keptFor = reason === "cancelled" ? 0 : own;
    this.queue.expiry.set(one.id, now + UNTIL_THE_END);
    this.#note(one, outcomeOf(one), now);
    const { flow } = node;
    if (flow.cancels && one.state === "rejected" && reason !== "cancelled" && reason !== "dependency_failed")
      this.leave({
        from: this.name,
        member: `~x:flow{${flow.id}} !f ${flow.home}`,
        work: { does: "cancel", flow, mode: "f" },
      });
  }

  /** Notes that a dead letter waits again. */
  noteOpen(task: ModelTask, now: number): void {
    this.#note(task as Node, "open", now);
  }

  #note(node: Node, outcome: Outcome, now: number): void {
    this.#now = now;
    this.#ended.push({ node, outcome });
  }

  leave(entry: Entry): void {
    this.queue.expiry.set(entry.member, NEVER);
    this.left.push(entry);
  }

  /** Notifies the followers in this queue of all that has ended, and leaves the others. */
  follow(): void {
    const ends = newEnds();
    while (this.#ended.length > 0) {
      const ended = this.#ended;
      this.#ended = [];
      const notices: Notified[] = [];
      for (const { node, outcome } of ended) {
        const { followers, flow, kind } = node.node;
        const because = (kind !== "task" && node.node.because) || node.id;
        const own = this.leavesAll ? [] : (followers?.filter(({ queue }) => queue === this.name) ?? []);
        const others = followers?.filter((one) => !own.includes(one));
        notices.push(...own.map(({ number, edge }) => ({ flow: flow.id, number, edge, outcome, because })));
        if (others?.length === 0) continue;
        const work = { does: "notify", node, outcome, because } as const;
        this.leave({ from: this.name, member: `~x:${node.id}`, work, followers: others });
      }
      this.#notifyAll(notices, ends, this.#now);
    }
    putInLine(this.queue, ends);
  }

  /** Notifies nodes, as a call from another queue. @returns how many of them are not known */
  notify(notices: readonly Notified[], now: number): number {
    const ends = newEnds();
    this.#now = now;
    const unknown = this.#notifyAll(notices, ends, now);
    putInLine(this.queue, ends);
    this.follow();
    return unknown;
  }

  #notifyAll(notices: readonly Notified[], ends: ReturnType<typeof newEnds>, now: number): number {
    const changed = new Map<Node, Notice[]>();
    let unknown = 0;
    for (const { flow, number, ...notice } of notices) {
      const node = this.node(`${number}{${flow}}`);
      if (!node) unknown++;
      else changed.set(node, [...(changed.get(node) ?? []), notice]);
    }
    for (const [node, its] of changed) this.#change(node, its, ends, now);
    return unknown;
  }

  /** Changes the edges of a node, and lets it follow them. */
  #change(task: Node, notices: readonly Notice[], ends: ReturnType<typeof newEnds>, now: number): void {
    const { node } = task;
    const { edges } = node;
    const fell = task.state === "rejected" && task.reason === "dependency_failed";
    const mayFollow = task.state === "blocked" || fell || (node.kind === "join" && hasEnded(task));
    if (!edges || !mayFollow) return;
    let [isChanged, failure] = [false, undefined as string | undefined];
    for (const { edge: place, outcome, because } of notices.toSorted((a, b) => a.edge - b.edge)) {
      const edge = edges[place] as ModelEdge;
      if (!become(edge, outcome)) continue;
      isChanged = true;
      if (isFailure(task, edge)) failure ??= because;
      else if (task.text === because) [task.text, node.because] = [undefined, because];
    }
    const isOpen = edges.some(({ state }) => state === "open");
    if (isChanged) {
      const because = (task.text as string | undefined) ?? failure;
      task.text = because;
      this.#follow(task, because, ends, now);
    } else if (task.state === "blocked") {
      const fails = node.kind !== "join" && edges.some((edge) => isFailure(task, edge) || isMissed(edge));
      if (!isOpen || fails) this.#follow(task, notices[0]?.because, ends, now);
    }
  }

  #follow(task: Node, because: string | undefined, ends: ReturnType<typeof newEnds>, now: number): void {
    const { node } = task;
    const edges = node.edges as ModelEdge[];
    const isJoin = node.kind === "join";
    const fell = task.state === "rejected" && task.reason === "dependency_failed";
    const wasOver = hasEnded(task);
    const fails = edges.some((edge) => isFailure(task, edge));
    const isUnneeded = edges.some(isMissed);
    const waits = edges.some(({ state }) => state === "open") && (isJoin || !(fails || isUnneeded));
    if (waits ? !wasOver : fell && (fails || isUnneeded)) return;
    if (wasOver) {
      Object.assign(task, { reason: undefined, endedAt: undefined, kept: true });
      this.queue.expiry.delete(task.id);
      this.queue.dead.delete(task.id);
      // It goes on, whether or not it waits.
      this.#note(task, "open", now);
    }
    if (waits) {
      transition(task, "blocked", now);
      this.block(task);
      return;
    }
    this.queue.blocked.delete(task.id);
    node.because = because;
    if (isUnneeded && !fails) this.#end(task, "rejected", now, "cancelled");
    else if (fails) this.#end(task, "rejected", now, "dependency_failed", because);
    else if (node.kind !== "task") this.#end(task, "completed", now);
    else {
      node.edges = undefined;
      transition(task, node.delay > 0 ? "delayed" : "pending", now);
      if (node.delay > 0) {
        task.state = "delayed";
        this.queue.delayed.set(task.id, now + node.delay + (isGrouped(task) ? 0.5 : 0));
      } else makeReady(this.queue, task, ends, "back");
    }
  }

  #end(task: Node, state: "completed" | "rejected", now: number, reason?: RejectReason, text?: string): void {
    if (task.node.kind === "task") {
      finish(this.queue, task, { now, state, reason, text });
      return;
    }
    task.state = state;
    task.reason = reason;
    task.endedAt = now;
    task.kept = false;
    task.text = text;
    task.node.keptFor = JOIN_TTL;
    transition(task, state, now);
    this.queue.expiry.set(task.id, now + UNTIL_THE_END);
    this.#note(task, outcomeOf(task), now);
  }

  /** The time of a join, a gate or a field is over. @returns whether it is one */
  forget(member: string): boolean {
    return this.joins.delete(member) || this.fields.delete(member);
  }
}

export const hasEnded = ({ state }: ModelTask) =>
  state === "completed" || state === "rejected" || state === "removed";

/** How a node has ended, for those that wait for it. One that was not needed counts as completed. */
export function outcomeOf({ state, reason, node }: Node): Outcome {
  const isUnneeded = reason === "cancelled" && node.edges?.some(isMissed);
  return state === "completed" || isUnneeded || (state === "removed" && !reason) ? "completed" : "failed";
}

const isMissed = ({ needs, state }: ModelEdge) => needs === "failed" && state === "completed";

const isFailure = ({ node }: Node, { needs, state }: ModelEdge) =>
  state === "failed" && (needs === "completed" || (needs === "ended" && node.kind === "join"));

/** What has completed stays so. @returns whether the edge has changed */
function become(edge: ModelEdge, outcome: Outcome): boolean {
  const changes =
    outcome === "completed"
      ? edge.state !== "completed"
      : outcome === "failed"
        ? edge.state === "open"
        : edge.state === "failed";
  if (changes) edge.state = outcome;
  return changes;
}

/** What the record of a node has beside that of a task: its edges while they count, and how long it is kept. */
export function nodeText({ node, state, reason }: ModelTask): string {
  if (!node || state === "ghost") return "";
  const counts = node.kind === "join" || state === "blocked" || reason === "dependency_failed";
  const edges = counts && state !== "removed" && node.edges ? lettersOf(node.edges) : "";
  const isKept = state === "completed" || state === "rejected";
  return [node.flow.id, edges, isKept ? node.keptFor : ""].join(" ");
}
