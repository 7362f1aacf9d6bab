/** What a deep sweep does for a flow whose layout is known: no node waits for what has ended, or is lost. */
import { commandCall, run } from "../../kernel/call.ts";
import { cancelMember, type CancelMode, sparedNodes } from "../../kernel/linked/cancel-nodes.ts";
import { layoutOf, type Plans, readPlans } from "../../kernel/linked/flow-layout.ts";
import { NEVER_DUE, layoutField, ROOT, rootOf } from "../../kernel/linked/flow-names.ts";
import { addFlowScript, type NodeStatus, notifyScript } from "../../kernel/linked/link-scripts.ts";
import type { NodeItem } from "../../kernel/linked/node-pieces.ts";
import { type Link, shardNamed } from "../../kernel/linked/link.ts";
import { emptyOutbox } from "../../kernel/linked/outbox.ts";
import { newToken } from "../../kernel/names/ids.ts";
import type { Shard } from "../../kernel/shard.ts";
import { groupedBy, slicesOf } from "../../kernel/slices.ts";
import type { PlainCommand, SendOptions } from "../../kernel/transport.ts";
import type { Findings } from "../../sweep/deep-part.ts";
import { nodesAgain } from "./nodes-again.ts";
import { type AddedGraph, graphsOf, keyOf, type PlacedNode, type RecordedEdge } from "./recorded-edges.ts";
import { readStates } from "./report-flow.ts";

/** How many entries one call handles. */
const PAGE = 160;

/** Each pass repairs what the one before it has made visible: more are not needed. */
const MAX_PASSES = 8;

/** Records of a flow that has not ended are kept for ten years, ms: half of it distinguishes them from others. */
export const KEPT_ON = 157_680_000_000;

/** @returns false if the flow has lost its layout, so that it is not known any more */
export async function repairFlow(
  home: Shard,
  flow: string,
  findings: Findings,
  options: SendOptions,
): Promise<boolean> {
  const reported = new Set<string>();
  const found: Findings["found"] = (fault, id) => {
    if (!reported.has(`${fault} ${id}`)) findings.found(fault, id);
    reported.add(`${fault} ${id}`);
  };
  const suspected = new Set<string>();
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const plans = (await readPlans(home, flow, options))?.plans;
    if (!plans?.has(ROOT)) return false;
    const repair = new FlowRepair(home, flow, plans, { ...findings, found }, suspected, options);
    if (pass === 0) findings.checked(repair.size);
    if (!(await repair.pass())) return true;
  }
  return true;
}

/** What a node is notified of. */
interface Change {
  readonly to: PlacedNode;
  readonly at: number;
  readonly outcome: string;
  readonly because: string;
}

/** One look at a flow as a whole. */
class FlowRepair {
  readonly #link: Link;
  readonly #home: Shard;
  readonly #flow: string;
  readonly #plans: Plans;
  readonly #findings: Findings;
  /** What the look before this one has found, and may have been read while it changed. */
  readonly #suspected: Set<string>;
  readonly #options: SendOptions;
  readonly #graphs: ReadonlyMap<string, AddedGraph>;
  readonly #all: readonly PlacedNode[];
  readonly #edges: readonly RecordedEdge[];
  readonly #statuses = new Map<string, NodeStatus>();
  /** How many edges of blocked nodes are open and have failed, and the letters of all of them. */
  readonly #waiting = new Map<string, { open: number; failed: number; letters: string }>();

  constructor(
    home: Shard,
    flow: string,
    plans: Plans,
    findings: Findings,
    suspected: Set<string>,
    options: SendOptions,
  ) {
    [this.#home, this.#flow, this.#plans] = [home, flow, plans];
    [this.#findings, this.#suspected, this.#options] = [findings, suspected, options];
    this.#link = home.queue;
    this.#graphs = graphsOf(flow, plans);
    const graphs = [...this.#graphs.values()];
    this.#all = graphs.flatMap(({ nodes, joins }) => [...nodes, ...joins]);
    this.#edges = graphs.flatMap(({ edges }) => edges);
  }

  get size(): number {
    return this.#all.length;
  }

  /** @returns whether it has changed something */
  async pass(): Promise<boolean> {
    // What is under way is no fault.
    const shards = new Set([this.#home.name, ...this.#all.map(({ shard }) => shard)]);
    for (const name of shards) await emptyOutbox(this.#link, name, this.#options);
    await this.#read();
    if (await this.#begin()) return true;
    const isNotified = await this.#notify();
    return (await this.#asWhole()) || isNotified;
  }

  /** Reads the states of all nodes. Joins of several partitions have one id, so each is read by itself. */
  async #read(): Promise<void> {
    const graphs = [...this.#graphs.values()];
    const most = Math.max(...graphs.map(({ joins }) => joins.length));
    for (let place = 0; place < most; place++) {
      const joins = graphs.flatMap((graph) => graph.joins[place] ?? []);
      const nodes = place === 0 ? [...graphs.flatMap((graph) => graph.nodes), ...joins] : joins;
      const states = await readStates(this.#link, nodes, this.#options, true);
      for (const node of nodes) {
        const status = states.get(node.id);
        if (!status) continue;
        this.#statuses.set(keyOf(node), status);
        const [open, failed, letters = ""] = status.edges.split(",");
        if (letters !== "")
          this.#waiting.set(keyOf(node), { open: Number(open), failed: Number(failed), letters });
      }
    }
  }

  #state(node: PlacedNode) {
    return this.#statuses.get(keyOf(node))?.state ?? "";
  }

  #hasEnded(node: PlacedNode): boolean {
    return this.#state(node) === "completed" || this.#state(node) === "rejected";
  }

  #isOpen({ to, at }: RecordedEdge): boolean {
    return /[cer]/.test(this.#waiting.get(keyOf(to))?.letters[at] ?? "");
  }

  get #root(): PlacedNode {
    return this.#graphs.get(ROOT)?.joins[0] as PlacedNode;
  }

  /** Lets nodes that have lost their records begin again, except tasks without a payload. */
  async #begin(): Promise<boolean> {
    const isBlocked = (node: PlacedNode) => this.#statuses.get(keyOf(node))?.edges === "?";
    const lost = new Map<string, PlacedNode>();
    for (const node of this.#all) if (isBlocked(node)) lost.set(keyOf(node), node);
    if (this.#state(this.#root) === "") lost.set(keyOf(this.#root), this.#root);
    for (const edge of this.#edges) {
      const { from } = edge;
      if (from.kind === "task" || this.#state(from) !== "" || !this.#isOpen(edge)) continue;
      if (this.#before(from).some((node) => this.#state(node) !== "")) lost.set(keyOf(from), from);
    }
    if (lost.size === 0) return false;
    const again = nodesAgain({
      flow: this.#flow,
      home: this.#home.name,
      cancelsAt: await this.#cancelsAt(),
      plans: this.#plans,
      graphs: this.#graphs,
    });
    const items = Array.from(lost.values(), (node) => ({ node, item: again.get(keyOf(node)) }));
    let count = 0;
    for (const [name, own] of groupedBy(items, ({ node }) => node.shard)) {
      const known = own.flatMap(({ item }) => item ?? []);
      for (const slice of slicesOf(known, PAGE)) await this.#add(name, slice);
      for (const { node, item } of own) if (item) this.#findings.found("flow_broken", node.id);
      count += known.length;
    }
    return count > 0;
  }

  async #add(name: string, items: readonly NodeItem[]): Promise<void> {
    const shard = shardNamed(this.#link, name);
    const args = { wake: "", token: newToken(), mayRefuse: "" };
    await run(this.#link.transport, shard.call(addFlowScript, args, items, shard.note()), this.#options);
  }

  /** What a join that is behind all nodes of its partition waits for, or a node waits for. */
  #before(node: PlacedNode): PlacedNode[] {
    return this.#edges.filter(({ to }) => keyOf(to) === keyOf(node)).map(({ from }) => from);
  }

  async #cancelsAt(): Promise<string | undefined> {
    const known = this.#all.find((node) => !["", "?"].includes(this.#state(node)));
    if (!known) return undefined;
    const { keys } = shardNamed(this.#link, known.shard);
    const record = (await this.#send(["HGET", keys.tasks, `.${known.id}`])) as string | null;
    return /^[^\n]*;C=([^;\n]*)/.exec(record ?? "")?.[1];
  }

  /** Notifies nodes again that wait for what has ended, and those that wait for what is lost that it failed. */
  async #notify(): Promise<boolean> {
    const again = new Map<string, PlacedNode>();
    const changes: Change[] = [];
    for (const edge of this.#edges) {
      if (!this.#isOpen(edge)) continue;
      const { from, to, at } = edge;
      if (this.#hasEnded(from)) {
        again.set(keyOf(from), from);
        this.#findings.found("edge_open", to.id);
      } else if (this.#state(from) === "") {
        const because = (from.kind === "task" ? from : (this.#before(from)[0] ?? from)).id;
        changes.push({ to, at, outcome: "failed", because });
        this.#findings.found("flow_broken", from.id);
      }
    }
    this.#notifyFronts(again, changes);
    for (const node of this.#all) {
      const waits = this.#waiting.get(keyOf(node));
      if (!waits || (waits.open > 0 && (waits.failed === 0 || node.kind === "join"))) continue;
      // All is closed: whatever it is notified of, it follows its edges.
      const place = waits.letters.search(/[fx]/);
      const because =
        this.#edges.find(({ to, at }) => keyOf(to) === keyOf(node) && at === place)?.from.id ?? "";
      changes.push({ to: node, at: waits.letters.length, outcome: "completed", because });
      this.#findings.found("edge_open", node.id);
    }
    for (const [name, own] of groupedBy(changes, ({ to }) => to.shard)) {
      const shard = shardNamed(this.#link, name);
      for (const slice of slicesOf(own, PAGE)) {
        const items = slice.map(({ to, at, ...rest }) => ({ id: to.id, edge: String(at), ...rest }));
        await run(this.#link.transport, shard.call(notifyScript, { wake: "" }, items), this.#options);
      }
    }
    for (const [name, own] of groupedBy([...again.values()], ({ shard }) => shard))
      await this.#putOut(
        name,
        own.map(({ id }) => `~x:${id}`),
      );
    return changes.length + again.size > 0;
  }

  /**
   * The same for nodes that others were added in front of, and the joins behind these nodes. Only the join behind added
   * nodes knows the numbers of its edges. If it is lost, what needs its completion falls at once. All else waits until the
   * added nodes have ended, which a later deep sweep finds.
   */
  #notifyFronts(again: Map<string, PlacedNode>, changes: Change[]): void {
    for (const { to, added } of this.#fronts().values()) {
      const own = this.#edges.filter((edge) => keyOf(edge.to) === keyOf(to)).length;
      const { letters = "" } = this.#waiting.get(keyOf(to)) ?? {};
      const open = Array.from(letters.matchAll(/[cer]/g), ({ index }) => index).filter((at) => at >= own);
      const first = added.map(({ joins }) => joins[0] as PlacedNode);
      const waiting = first.filter((join) => this.#state(join) === "blocked").length;
      if (open.length <= waiting) continue;
      const ended = first.filter((join) => this.#hasEnded(join));
      const lost = added.filter(({ joins }) => this.#state(joins[0] as PlacedNode) === "");
      if (ended.length > 0 && open.length > waiting + lost.length) {
        for (const join of ended) again.set(keyOf(join), join);
        this.#findings.found("edge_open", to.id);
      }
      if (waiting > 0 || lost.length === 0) continue;
      const isOver = lost.every(({ nodes }) =>
        nodes.every((node) => this.#hasEnded(node) || this.#state(node) === ""),
      );
      const because = lost[0]?.joins[0]?.id ?? to.id;
      for (const at of open.filter((one) => isOver || letters[one] === "c")) {
        this.#findings.found("flow_broken", because);
        changes.push({ to, at, outcome: "failed", because });
      }
    }
  }

  /** What was added in front of nodes, by {@link keyOf} of these and of the joins behind them. */
  #fronts() {
    const fronts = new Map<string, { readonly to: PlacedNode; readonly added: AddedGraph[] }>();
    const graphs = Array.from(this.#graphs.values());
    for (const graph of graphs) {
      const { front, joins } = graph;
      if (front === undefined) continue;
      const isHere = ({ shard }: PlacedNode) => shard === joins[0]?.shard;
      const isFront = (node: PlacedNode) => node.id.startsWith(`${front}{`) && isHere(node);
      const behind = graphs.find(({ nodes }) => nodes.some(isFront))?.joins.find(isHere);
      for (const to of [this.#all.find(isFront), behind]) {
        if (!to) continue;
        const known = fronts.get(keyOf(to)) ?? { to, added: [] };
        fronts.set(keyOf(to), known);
        known.added.push(graph);
      }
    }
    return fronts;
  }

  /** What concerns the flow as a whole: its end, and that it is cancelled. */
  async #asWhole(): Promise<boolean> {
    const root = this.#statuses.get(keyOf(this.#root));
    const { keys, name } = this.#home;
    const until = await this.#send(["ZSCORE", keys.expiry, layoutField(this.#flow)]);
    const now = this.#home.queue.now?.() ?? Date.now();
    const isKeptOn = Number(until ?? Infinity) > now + KEPT_ON;
    const hasEnded = this.#hasEnded(this.#root);
    if (hasEnded ? isKeptOn : until !== null && !isKeptOn) {
      if (this.#isFirstLook("expiry")) return true;
      this.#findings.found("expiry_missing", this.#root.id);
      await this.#putOut(name, [`~x:${rootOf(this.#flow)}`]);
      return true;
    }
    const [, , cancelled = "", cancelsAt = ""] = (root?.more ?? "").split(" ");
    const mode = cancelled === "" && cancelsAt !== "" ? "f" : (cancelled as CancelMode | "");
    if (hasEnded || mode === "" || !this.#isUncancelled(mode, cancelled !== "")) return false;
    if (this.#isFirstLook("cancel")) return true;
    this.#findings.found("edge_open", this.#root.id);
    await this.#putOut(name, [cancelMember(this.#flow, mode, name)]);
    return true;
  }

  /** Whether it is the first look that finds this. What is read is not read at once: the flow may be about to change. */
  #isFirstLook(what: string): boolean {
    const isFirst = !this.#suspected.has(what);
    this.#suspected.add(what);
    return isFirst;
  }

  /** Whether a task waits that must be cancelled: because the flow is marked, or because a task has failed. */
  #isUncancelled(mode: CancelMode, isMarked: boolean): boolean {
    const { nodes } = layoutOf(this.#flow, [], this.#plans);
    const spared = mode === "f" ? sparedNodes(nodes) : [];
    const statuses = nodes.map((node) => this.#statuses.get(keyOf(node)));
    const hasFailed = statuses.some(
      (status, place) =>
        nodes[place]?.kind === "task" &&
        status?.state === "rejected" &&
        !["cancelled", "dependency_failed"].includes(status.reason),
    );
    // After a redrive the flow goes on.
    const isRedriven = statuses.some(
      (status) => status?.more === "again" && !["completed", "rejected"].includes(status.state),
    );
    if ((!isMarked && !hasFailed) || isRedriven) return false;
    return nodes.some(
      ({ kind }, place) =>
        kind === "task" &&
        spared[place] !== true &&
        ["pending", "delayed", "blocked"].includes(statuses[place]?.state ?? ""),
    );
  }

  #send(command: PlainCommand): Promise<unknown> {
    const call = commandCall(command, (reply) => reply);
    return run(this.#link.transport, call, this.#options);
  }

  /** Puts entries into the outbox of a partition. */
  async #putOut(name: string, members: readonly string[]): Promise<void> {
    const { expiry } = shardNamed(this.#link, name).keys;
    for (const slice of slicesOf(members, PAGE))
      await this.#send(["ZADD", expiry, ...slice.flatMap((member) => [NEVER_DUE, member])]);
  }
}
