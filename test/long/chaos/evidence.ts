import { type ProvenLease, readReceipt } from "../../../src/kernel/names/receipt.ts";
import { FlowEvidence } from "./flows-evidence.ts";
import { taskKey } from "./history.ts";
import type { Written } from "./ledger.ts";

/** A span of time, epoch ms. */
export interface Span {
  readonly from: number;
  until: number;
}

/** A task that a process received. */
export interface Delivery {
  readonly key: string;
  readonly lease: number;
  readonly attempt: number;
  readonly token: string;
  readonly by: string;
  readonly at: number;
}

/** A call of a consumer; it ends with its answer or its failure, or never. */
export interface Call extends Span {
  readonly by: string;
  readonly queue: string;
  readonly pull: boolean;
  readonly wait: boolean;
  readonly handOver: boolean;
  failed: boolean;
}

/** What a holder asked for one lease, and the answers that it got. */
export interface Asked {
  readonly key: string;
  readonly lease: number;
  readonly outcome: string;
  readonly by: string;
  /** When it asked first. */
  readonly at: number;
  readonly reported: string[];
}

/** The life of a process. */
export interface Life {
  /** From when it could be used. */
  from: number;
  until: number;
  readonly through: "gateway" | "server" | undefined;
  killed: boolean;
  readonly pauses: Span[];
  /** The spans in which it got no processor time. */
  readonly stalls: Span[];
}

/** A text that names a lease, and no other. */
export const leaseOf = ({ id, lease, token }: Pick<ProvenLease, "id" | "lease" | "token">) =>
  `${lease} ${token} ${id}`;

/** What all ledgers say, sorted by subject. */
export class Evidence {
  readonly lives = new Map<string, Life>();
  readonly calls: Call[] = [];
  readonly deliveries: Delivery[] = [];
  /** How many tasks were delivered by their enqueue. */
  handedOver = 0;
  /** By key, lease and outcome. */
  readonly asked = new Map<string, Asked>();
  /** Marks of tasks that some producer asked to enqueue. */
  readonly marks = new Set<string>();
  /** By key, the enqueues that were acknowledged; of those with the answer `created`, the marks. */
  readonly enqueued = new Map<string, string[]>();
  /** Keys of tasks that some producer asked to cancel. */
  readonly cancels = new Set<string>();
  /** {@link leaseOf} the leases past which a consumer worked on purpose. */
  readonly overslept = new Set<string>();
  readonly faults: { readonly at: number; readonly kind: string }[] = [];
  /** By the ids of deliveries, the marks that the receiver got, each time. */
  readonly received = new Map<string, string[]>();
  readonly broken: string[] = [];
  readonly flows = new FlowEvidence();
  readonly #open = new Map<string, Call & { readonly settle: Asked[]; readonly marks: readonly string[] }>();

  constructor(lines: readonly Written[]) {
    for (const line of lines) this.#read(line);
  }

  /** A process's life. */
  life(process: string): Life {
    const known = this.lives.get(process);
    if (known) return known;
    const life: Life = {
      through: undefined,
      from: 0,
      until: Infinity,
      killed: false,
      pauses: [],
      stalls: [],
    };
    this.lives.set(process, life);
    return life;
  }

  /** The lives of all processes of the run. */
  livesOf(role: string): Life[] {
    return [...this.lives].filter(([name]) => name.startsWith(`${role}.`)).map(([, life]) => life);
  }

  #read(line: Written): void {
    const { at, by } = line;
    switch (line.what) {
      case "enqueue": {
        for (const mark of line.marks) this.marks.add(mark);
        this.#begin(line, { marks: line.marks });
        return;
      }
      case "enqueued": {
        const { queue = "", marks = [] } = this.#end(line) ?? {};
        for (const [i, id] of line.ids.entries()) {
          const creators = this.enqueued.get(taskKey(queue, id)) ?? [];
          if (line.created[i]) creators.push(marks[i] ?? "");
          this.enqueued.set(taskKey(queue, id), creators);
        }
        return;
      }
      case "flow":
      case "flow added":
      case "flow cancel":
      case "flow redrive":
      case "grow":
      case "grown":
        for (const mark of this.flows.read(line)) this.marks.add(mark);
        return;
      case "cancel":
        this.cancels.add(taskKey(line.queue, line.id));
        return;
      case "ask": {
        const settle = line.settle.map(([receipt, outcome]) => this.#ask(line, receipt, outcome));
        const { pull, wait, handOver = false } = line;
        this.calls.push(this.#begin(line, { pull, wait, handOver, settle }));
        return;
      }
      case "answer": {
        const { queue = "", settle = [], handOver } = this.#end(line) ?? {};
        if (handOver) this.handedOver += line.receipts.length;
        for (const [i, said] of line.settled.entries()) settle[i]?.reported.push(said);
        for (const receipt of line.receipts) {
          const { id, lease, attempt, token } = readReceipt(receipt, "receipt");
          this.deliveries.push({ key: taskKey(queue, id), lease, attempt, token, by, at });
        }
        return;
      }
      case "failed": {
        const call = this.#end(line);
        if (call) call.failed = true;
        return;
      }
      case "overslept":
        this.overslept.add(leaseOf(readReceipt(line.receipt, "receipt")));
        return;
      case "received":
        this.received.set(line.id, [...(this.received.get(line.id) ?? []), line.mark]);
        return;
      case "late":
        this.life(by).stalls.push({ from: at - line.ms, until: at });
        return;
      case "fault":
        this.faults.push({ at, kind: line.kind });
        return;
      case "broken":
        this.broken.push(`${by}: ${line.error}`);
        return;
      case "started":
        this.lives.set(line.process, { ...this.life(line.process), through: line.through, from: at });
        return;
      case "ready":
        this.life(line.process).from = at;
        return;
      case "killed":
      case "ended": {
        const life = this.life(line.process);
        life.killed ||= line.what === "killed";
        life.until = Math.min(life.until, at);
        return;
      }
      case "paused":
        this.life(line.process).pauses.push({ from: at, until: Infinity });
        return;
      case "resumed": {
        const last = this.life(line.process).pauses.at(-1);
        if (last) last.until = at;
        return;
      }
    }
  }

  #begin(
    { at, by, call, queue }: Written & { readonly call: number; readonly queue: string },
    more: Partial<Pick<Call, "pull" | "wait" | "handOver">> & {
      settle?: Asked[];
      marks?: readonly string[];
    },
  ) {
    const { pull = false, wait = false, handOver = false, settle = [], marks = [] } = more;
    const begun = {
      by,
      queue,
      pull,
      wait,
      handOver,
      settle,
      marks,
      from: at,
      until: Infinity,
      failed: false,
    };
    this.#open.set(`${by} ${call}`, begun);
    return begun;
  }

  #end({ at, by, call }: Written & { readonly call: number }) {
    const open = this.#open.get(`${by} ${call}`);
    this.#open.delete(`${by} ${call}`);
    if (open) open.until = at;
    return open;
  }

  #ask({ at, by, queue }: Written & { readonly queue: string }, receipt: string, outcome: string): Asked {
    const { id, lease } = readReceipt(receipt, "receipt");
    const key = taskKey(queue, id);
    const name = `${key} ${lease} ${outcome}`;
    const asked = this.asked.get(name) ?? { key, lease, outcome, by, at, reported: [] };
    this.asked.set(name, asked);
    return asked;
  }
}
