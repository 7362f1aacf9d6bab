/** What callers and sweeps do with what is left to be notified, request by request: a caller may die between two. */
import type { Flows } from "./flows.ts";
import { hasEnded, type Node, type Notified } from "./nodes.ts";
import {
  type Entry,
  type ModelFlow,
  nodeId,
  type PlannedNode,
  QUEUES,
  type QueueName,
  UNTIL_THE_END,
} from "./state.ts";

/** How long the fields of a flow are kept after its end, ms. */
const FIELDS_KEPT_FOR = { completed: 3_600_000, failed: 604_800_000, open: UNTIL_THE_END };
const RESEND_WINDOW = 300_000;

/** Thrown for a request of a caller that has died. */
class Died extends Error {}

export interface CancelledFlow {
  readonly cancelled: number;
  readonly flagged: number;
  readonly isDone: boolean;
}

/** The entries of nodes that are alive again. */
function reopenedAmong(entries: readonly Entry[]): Entry[] {
  const isOpen = ({ work }: Entry) => work.does === "notify" && work.outcome === "open";
  return entries.filter(
    (entry) =>
      isOpen(entry) &&
      !entries.some((one) => one.from === entry.from && one.member === entry.member && !isOpen(one)),
  );
}

/** A caller that has some requests left. */
export class Caller {
  readonly #flows: Flows;
  readonly #now: number;
  #requests: number;
  /** Whether it has died on the way of something that is not waited for. */
  #hasFailed = false;

  constructor(flows: Flows, now: number, requests = Number.POSITIVE_INFINITY) {
    this.#flows = flows;
    this.#now = now;
    this.#requests = requests;
  }

  /** Does something. @returns undefined if it dies on the way */
  static attempt<T>(what: () => T): T | undefined {
    try {
      return what();
    } catch (error) {
      if (error instanceof Died) return undefined;
      throw error;
    }
  }

  /** Does something without which all else can be done. */
  #attempt<T>(what: () => T): T | undefined {
    const done = Caller.attempt(() => ({ value: what() }));
    if (!done) this.#hasFailed = true;
    return done?.value;
  }

  /** Throws once all else is done. */
  #throwIfFailed(): void {
    const hasFailed = this.#hasFailed;
    this.#hasFailed = false;
    if (hasFailed) throw new Died("died");
  }

  request(): void {
    if (this.#requests <= 0) throw new Died("died");
    this.#requests--;
  }

  /** Reads the outbox of a queue, and empties it. */
  empty(name: QueueName): void {
    for (let skip = 0; ;) {
      this.request();
      const entries = this.#flows.entriesOf(name).slice(skip);
      if (entries.length === 0) return this.#throwIfFailed();
      skip += this.#send(entries).left;
    }
  }

  /** Does what entries say, and all that follows from it. @returns whether all of it was done */
  send(entries: readonly Entry[]): boolean {
    const { isDone } = this.#send(entries);
    this.#throwIfFailed();
    return isDone;
  }

  #send(entries: readonly Entry[]): { readonly left: number; readonly isDone: boolean } {
    const given = new Set(entries);
    let [isDone, left] = [true, entries.length];
    let open = entries;
    let removals: Entry[] = [];
    const cancels: Entry[] = [];
    const remove = () => {
      for (const { from, member } of removals) this.#flows.remove(from, member);
      removals = [];
    };
    while (open.length > 0) {
      const done: Entry[] = [];
      for (const entry of open.filter(({ work }) => work.does === "add")) {
        if (this.#attempt(() => this.#addPiece(entry))) done.push(entry);
        else isDone = false;
      }
      cancels.push(...open.filter(({ work }) => work.does === "cancel"));
      for (const entry of open) {
        if (entry.work.does !== "notify" || entry.followers) continue;
        const { node, outcome } = entry.work;
        const { flow } = node.node as Node["node"];
        if (this.#attempt(() => this.#endFlow(flow, outcome))) done.push(entry);
        else isDone = false;
      }
      const notified = open.filter(({ work, followers }) => work.does === "notify" && followers);
      const { more, unsent } = this.#notify(notified, removals.length > 0 ? remove : undefined);
      done.push(...notified.filter((entry) => !unsent.has(entry)));
      if (unsent.size > 0) isDone = false;
      left -= done.filter((entry) => given.has(entry)).length;
      const reopened = reopenedAmong(done);
      // Whether they have ended since.
      const isRead = reopened.length === 0 || this.#attempt(() => (this.request(), true));
      if (!isRead) isDone = false;
      removals = isRead ? done : done.filter((entry) => !reopened.includes(entry));
      open = more;
    }
    if (removals.length > 0) {
      this.request();
      remove();
    }
    for (const entry of cancels) {
      const { work } = entry;
      if (work.does !== "cancel") continue;
      const cancelled = this.#attempt(() => [this.cancelFlow(work.flow, work.mode)]);
      if (!cancelled || cancelled[0]?.isDone === false) {
        isDone = false;
        continue;
      }
      this.request();
      this.#flows.remove(entry.from, entry.member);
      if (given.has(entry)) left--;
    }
    return { left, isDone };
  }

  #addPiece(entry: Entry): true {
    // Of a node whose record is gone.
    if (!entry.member.includes(" ")) return true;
    this.request();
    if (!this.#flows.nodes(entry.from).fields.has(entry.member)) return true;
    this.request();
    this.#flows.addPiece(entry.member, this.#now);
    return true;
  }

  /** Notifies what entries name, by one request. */
  #notify(
    entries: readonly Entry[],
    remove: (() => void) | undefined,
  ): { more: readonly Entry[]; unsent: ReadonlySet<Entry> } {
    const calls = new Map<QueueName, { readonly entry: Entry; readonly notice: Notified }[]>();
    for (const entry of entries) {
      const { work, followers = [] } = entry;
      if (work.does !== "notify") continue;
      const { outcome, because } = work;
      const flow = (work.node as Node).node.flow.id;
      for (const { queue, number, edge } of followers) {
        const notice = { flow, number, edge, outcome, because };
        calls.set(queue, [...(calls.get(queue) ?? []), { entry, notice }]);
      }
    }
    if (calls.size === 0 && !remove) return { more: [], unsent: new Set() };
    if (!this.#attempt(() => (this.request(), true))) {
      return { more: [], unsent: new Set(entries) };
    }
    remove?.();
    const more: Entry[] = [];
    const unsent = new Set<Entry>();
    const known = new Map<ModelFlow, boolean>();
    const unknown: Entry[] = [];
    for (const [queue, its] of calls) {
      const nodes = this.#flows.nodes(queue);
      nodes.left = [];
      const notices = its.map(({ notice }) => notice);
      if (nodes.notify(notices, this.#now) > 0) unknown.push(...its.map(({ entry }) => entry));
      more.push(...nodes.left);
    }
    for (const entry of unknown) {
      const { flow } = (entry.work as { node: Node }).node.node;
      const isKnown =
        known.get(flow) ??
        this.#attempt(() => {
          this.request();
          return this.#flows.isKnown(flow);
        }) ??
        true;
      known.set(flow, isKnown);
      if (isKnown) unsent.add(entry);
    }
    return { more, unsent };
  }

  /** From now on the records of a flow are kept for as long as each says; until its end, if it goes on. */
  #endFlow(flow: ModelFlow, outcome: keyof typeof FIELDS_KEPT_FOR): true {
    if (!this.#readLayout(flow)) return true;
    this.request();
    for (const name of QUEUES) {
      const { queue, joins } = this.#flows.nodes(name);
      const numbers = [...flow.nodes, ...flow.roots].flatMap((one) =>
        one.queue === name ? [one.number] : [],
      );
      for (const number of numbers) {
        const id = nodeId(flow, number);
        const task = joins.get(id) ?? queue.tasks.get(id);
        if (!task?.node || !hasEnded(task) || !queue.expiry.has(id)) continue;
        const kept = Math.max(task.node.keptFor ?? 0, RESEND_WINDOW);
        queue.expiry.set(id, this.#now + (outcome === "open" ? UNTIL_THE_END : kept));
      }
      if (name !== flow.home) continue;
      for (const field of flow.fields) queue.expiry.set(field, this.#now + FIELDS_KEPT_FOR[outcome]);
    }
    return true;
  }

  #readLayout(flow: ModelFlow): boolean {
    this.request();
    if (!this.#flows.isKnown(flow)) return false;
    this.request();
    return true;
  }

  /** Cancels the tasks of a flow, the last ones first. */
  cancelFlow(flow: ModelFlow, mode: "a" | "f"): CancelledFlow | undefined {
    if (!this.#readLayout(flow)) return undefined;
    const home = this.#flows.nodes(flow.home);
    const member = `~x:flow{${flow.id}} !${mode} ${flow.home}`;
    this.request();
    const root = home.joins.get(nodeId(flow, "flow"));
    if (root && !hasEnded(root))
      home.leave({ from: flow.home, member, work: { does: "cancel", flow, mode } });
    this.request();
    const spared = mode === "f" ? sparedNodes(flow.nodes) : [];
    const sum = { cancelled: 0, flagged: 0, unknown: 0 };
    const calls: { readonly queue: QueueName; readonly ids: string[] }[] = [];
    for (const [place, { kind, queue, number }] of [...flow.nodes.entries()].toReversed()) {
      if (kind !== "task" || spared[place]) continue;
      const last = calls.at(-1);
      if (last?.queue === queue) last.ids.push(nodeId(flow, number));
      else calls.push({ queue, ids: [nodeId(flow, number)] });
    }
    const more = calls.map(({ queue, ids }) => this.#flows.cancelNodes(queue, ids, this.#now, sum));
    let isDone = sum.unknown === 0;
    for (const entries of more) if (entries.length > 0 && !this.send(entries)) isDone = false;
    if (isDone) {
      this.request();
      this.#flows.remove(flow.home, member);
    }
    return { ...sum, isDone };
  }
}

/** Which nodes a failure does not cancel: those that wait for ends only, or for what is spared. */
function sparedNodes(nodes: readonly PlannedNode[]): boolean[] {
  const spared: boolean[] = [];
  for (const { kind, after } of nodes) {
    const isSpared = after.every(
      ({ needs, from }) => spared[from] || (needs !== "completed" && kind !== "join"),
    );
    spared.push(after.length > 0 && isSpared);
  }
  return spared;
}
