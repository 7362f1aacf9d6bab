// A queue that grows by tasks of one state, through the library's own calls.

import { Operator, Queue, type LeasedTask, type Transport } from "../../src/index.ts";
import { queueKeys } from "../../src/kernel/names/keys.ts";
import { callOf } from "../../src/kernel/scripts/binding.ts";
import { lastReply } from "../../src/kernel/scripts/replies.ts";
import { sweepScript } from "../../src/kernel/scripts/sweep-scripts.ts";
import { payload } from "../report.ts";
import { COPIES, copiedId, copyTasks } from "./copies.ts";
import { FAR, type GrowingState } from "./states.ts";

/** Tasks of one enqueue, and of one dequeue and settle, while it grows. */
const ENQUEUED = 1_000;
const SETTLED = 100;
/** Receipts kept of each dequeue, to settle tasks of any age later. */
const REMEMBERED = 10;

export class GrowingQueue {
  readonly queue: Queue;
  readonly operator: Operator;
  readonly state: GrowingState;
  readonly #transport: Transport;
  readonly #keys: ReturnType<typeof queueKeys>;
  /** Receipts of working tasks, if it grows by these. */
  readonly #receipts: string[] = [];
  #size = 0;
  /** The clock of all its calls. Tasks become due when the bench moves it. */
  now = Date.now();

  constructor(name: string, state: GrowingState, transport: Transport) {
    const options = { transport, coalesce: false, now: () => this.now } as const;
    this.queue = new Queue(name, options);
    this.operator = new Operator(name, { transport, now: options.now });
    this.state = state;
    this.#transport = transport;
    this.#keys = queueKeys(name);
  }

  get size(): number {
    return this.#size;
  }

  /**
   * Adds tasks.
   * @param copying whether nine of ten are copies that are made inside Redis
   */
  async grow(size: number, copying: boolean): Promise<void> {
    const each = copying ? 1 + COPIES : 1;
    while (this.#size < size) {
      const first = this.#size;
      const count = Math.min(ENQUEUED, Math.ceil((size - first) / each));
      const tasks = Array.from({ length: count }, (_, i) => this.#task(first + i));
      const added = await this.queue.enqueueMany(tasks);
      if (this.state.by !== "enqueue") await this.#work(count, copying);
      else if (copying) await this.#copy(added.map(({ id }) => id));
      this.#size += count * each;
    }
  }

  #task(number: number) {
    this.now += number % 10 === 0 ? 1 : 0;
    const at = this.state.state === "delayed" ? { at: this.now + FAR + number } : {};
    return { payload: payload(number), ...this.state.options, ...at };
  }

  /** Dequeues that many tasks and does with them what gives them their state. */
  async #work(count: number, copying: boolean): Promise<void> {
    const batch = async (max: number) => {
      this.now++;
      const tasks = await this.queue.dequeue({ max, lease: FAR });
      const { by } = this.state;
      if (by === "dequeue") this.#remember(tasks.slice(0, REMEMBERED), copying);
      else if (by !== "enqueue") await this.settle(tasks, by);
      if (copying) await this.#copy(tasks.map(({ id }) => id));
    };
    const sizes = Array.from({ length: Math.ceil(count / SETTLED) }, (_, i) =>
      Math.min(SETTLED, count - i * SETTLED),
    );
    await Promise.all(sizes.map(batch));
  }

  async #copy(ids: readonly string[]): Promise<void> {
    const places = this.state.keys.map((part) => this.#keys[part]);
    await copyTasks(this.#transport, this.#keys.tasks, places, ids);
  }

  #remember(tasks: readonly LeasedTask[], copied = false): void {
    for (const [i, { id, receipt }] of tasks.entries()) {
      // Of a task and its copies one.
      const copy = copied ? i % (1 + COPIES) : 0;
      this.#receipts.push(copy === 0 ? receipt : receipt.slice(0, -id.length) + copiedId(id, copy));
    }
  }

  async settle(tasks: readonly { readonly receipt: string }[], outcome: "complete" | "reject") {
    const results = await this.queue.settle(
      tasks.map(({ receipt }) =>
        outcome === "complete"
          ? { receipt, outcome, result: { ok: true } }
          : { receipt, outcome, error: new Error("the receiver answered 503") },
      ),
    );
    if (!results.every(({ ok }) => ok)) throw new Error(`not all tasks of a ${outcome} were settled`);
  }

  /** For tasks that were just leased, as many that were leased at any time: these go on working instead. */
  exchange(tasks: readonly LeasedTask[]): readonly { readonly receipt: string }[] {
    this.#remember(tasks);
    return tasks.map(() => {
      const index = Math.floor(Math.random() * this.#receipts.length);
      const receipt = this.#receipts[index] ?? "";
      this.#receipts[index] = this.#receipts.at(-1) ?? "";
      this.#receipts.pop();
      return { receipt };
    });
  }

  /** The keys that grow. */
  get tables(): { readonly hash: string; readonly zsets: readonly string[] } {
    const places = this.state.keys.filter((part) => part !== "pending");
    return { hash: this.#keys.tasks, zsets: places.map((part) => this.#keys[part]) };
  }

  /** One call of the sweep script, which moves at most so many tasks of each kind. */
  async sweep(limit: number) {
    const args = { testNow: String(this.now), limit: String(limit), wake: "", ahead: "" };
    const outcomes = await this.#transport.send([callOf(sweepScript, this.#keys, args)]);
    return sweepScript.decode(lastReply(outcomes));
  }

  /** A task of its state, and the cursor of the page after that task: anywhere in its middle half. */
  async inTheMiddle(): Promise<{ id: string; cursor: string }> {
    const key = this.#keys[this.state.keys[0]];
    const index = String(Math.floor(this.#size * (0.25 + Math.random() / 2)));
    if (this.state.state === "pending") {
      const id = lastReply(await this.#transport.send([["LINDEX", key, `-${index}`]]));
      return { id: String(id), cursor: `${index} 0 - 0 -` };
    }
    const reply = lastReply(await this.#transport.send([["ZRANGE", key, index, index, "WITHSCORES"]]));
    const [id, score] = reply as unknown as [string, string];
    return { id, cursor: `${score} ${id}` };
  }
}
