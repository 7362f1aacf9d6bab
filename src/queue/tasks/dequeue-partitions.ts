import type { Keys } from "../core/keys.ts";
import { derivedName } from "../core/ids.ts";
import type { DequeueOptions } from "../core/types.ts";
import type { Partitions } from "../partitions/partitions.ts";
import { headCall, type PartitionHead, type PartitionTurns } from "../partitions/turns.ts";
import { headScript, listWorkScript } from "../redis/partition-scripts.ts";
import { replyAt } from "../redis/replies.ts";
import { dequeueScript, repliesInside, settleAndDequeueCall } from "../redis/task-scripts.ts";
import type { Command, CommandOutcome, ScriptCall, Transport } from "../redis/transport.ts";
import type { DequeueCall } from "./dequeue.ts";
import type { Batch } from "./leased-task.ts";
import { pollForTasks, waitMilliseconds } from "./long-poll.ts";
import { type registration, sendNoted } from "./registration.ts";
import type { SettleParts } from "./settle-calls.ts";

type DequeueReply = ReturnType<typeof dequeueScript.decode>;

/** What a dequeue from partitions needs of its queue. */
export interface PartitionedSource<Out> {
  readonly name: string;
  readonly partitions: Partitions;
  readonly turns: PartitionTurns;
  readonly transport: Transport;
  readonly testNow: () => string;
  /** Redis's time, epoch ms, as nearly as it is known. */
  readonly scriptTime: () => number;
  readonly keysOf: (partition: number) => Keys;
  readonly callFor: (partition: number, options: DequeueOptions) => Promise<DequeueCall<Out>>;
}

/** One request that dequeues from one partition, and what it does beside it. */
interface FirstRequest {
  readonly settle: SettleParts;
  /** What goes before the settlements. */
  readonly notes: readonly ReturnType<typeof registration>[];
  /** The outcomes of the settlements. */
  onSettled: (outcomes: readonly CommandOutcome[]) => void;
}

/**
 * A dequeue from a queue with partitions. It takes tasks from the partition whose next task is the oldest, as
 * far as this instance knows, and looks at a second one in the same request. If there are none, it looks at all
 * others that have work, and takes from the one whose next task is the oldest.
 */
export class PartitionedDequeue<Out> {
  readonly #source: PartitionedSource<Out>;
  readonly #options: DequeueOptions;
  /** The caller's token, or that of its idempotency key. */
  readonly #token: string | undefined;
  /** ms */
  readonly #wait: number;

  /** @throws {SluiceError} `invalid_argument` */
  static async of<Out>(source: PartitionedSource<Out>, options: DequeueOptions) {
    // Checks the options.
    await source.callFor(0, options);
    const { token, idempotencyKey } = options;
    const derived =
      token === undefined && idempotencyKey !== undefined
        ? await derivedName("dequeue", source.name, idempotencyKey)
        : token;
    return new PartitionedDequeue(source, options, derived);
  }

  private constructor(source: PartitionedSource<Out>, options: DequeueOptions, token: string | undefined) {
    this.#source = source;
    this.#options = options;
    this.#token = token;
    this.#wait = waitMilliseconds(options.wait);
  }

  /** @param first what the first request does beside the dequeue. @default nothing */
  async run(first?: FirstRequest): Promise<Batch<Out>> {
    const batch = await this.#round(this.#wait === 0, first);
    if (batch.length > 0 || this.#wait === 0) return batch;
    const steps = { dequeue: (last: boolean) => this.#round(last), check: () => this.#check() };
    return pollForTasks(batch, this.#wait, steps, this.#options.signal);
  }

  /** Dequeues from one partition after the other, until there are tasks. */
  async #round(isLast: boolean, first?: FirstRequest): Promise<Batch<Out>> {
    const { partitions, turns } = this.#source;
    const all = await partitions.all(this.#options.signal);
    const seen = new Map<number, PartitionHead>();
    const tried = new Set<number>();
    const untried = () =>
      turns
        .order(all, this.#token)
        .filter((partition) => !tried.has(partition) && !partitions.isDown(partition));
    let failure: unknown;
    const from = async (partition: number, second?: number, beside?: FirstRequest) => {
      tried.add(partition);
      const batch = await this.#request(partition, second, all, isLast, seen, beside).catch(
        (error: unknown) => {
          // One database that is down does not keep back the tasks of others.
          if (beside || !partitions.isDown(partition)) throw error;
          failure = error;
        },
      );
      return batch ?? Object.assign([], { nextDueAt: null, paused: false, invalid: 0 });
    };
    const [home = 0, ...others] = untried();
    let batch = await from(home, turns.leastKnown(others), first);
    let { invalid } = batch;
    // A dequeue that may be a resend goes on in its order, so that each copy visits the same partitions.
    if (batch.length === 0 && !batch.paused && this.#token === undefined)
      await this.#look(untried(), all, seen);
    while (batch.length === 0 && !batch.paused) {
      const next = untried().find(
        (partition) => this.#token !== undefined || !this.#isEmpty(seen.get(partition)),
      );
      if (next === undefined) break;
      batch = await from(next);
      invalid += batch.invalid;
    }
    if (failure !== undefined && seen.size === 0) throw failure;
    const nextDueAt = this.#nextDue(all, seen);
    if (batch.length === 0 && !batch.paused) await this.#noteIdle(seen);
    return Object.assign(batch, { nextDueAt, invalid });
  }

  /** Dequeues from a partition, and looks at a second one. */
  async #request(
    partition: number,
    second: number | undefined,
    all: readonly number[],
    isLast: boolean,
    seen: Map<number, PartitionHead>,
    first: FirstRequest | undefined,
  ): Promise<Batch<Out>> {
    const { turns, keysOf, callFor, testNow } = this.#source;
    const call = await callFor(partition, this.#options);
    const dequeue = call.callBefore(isLast);
    const settle = first?.settle ?? [];
    const own = settle.findIndex((part) => part.partition === partition);
    const commands: Command[] = settle.map((part, i) =>
      i === own ? settleAndDequeueCall(part.call, dequeue) : part.call,
    );
    if (own < 0) commands.push(dequeue);
    const work = turns.workCall(all, testNow());
    const from = commands.length;
    const more = [second === undefined ? undefined : headCall(keysOf(second)), work];
    commands.push(...more.filter((command): command is ScriptCall => command !== undefined));
    const notes = first?.notes ?? [];
    const { noted, outcomes } = await sendNoted(
      this.#source.transport,
      notes.map(({ command }) => command),
      commands,
      { signal: this.#options.signal },
    );
    for (const [i, note] of notes.entries()) if (noted[i]) note.done();
    const reply = this.#dequeued(outcomes, settle, own, first);
    if (second !== undefined) this.#readHead(second, outcomes[from], seen);
    if (work) this.#noteWork(all, outcomes.at(-1));
    const batch = await call.batchOf(reply);
    const last = batch.at(-1);
    const nextDueAt = batch.nextDueAt ?? 0;
    const isFull = batch.length >= (this.#options.max ?? 1);
    this.#noteHead(partition, { oldestAt: isFull && last ? last.enqueuedAt : 0, nextDueAt }, seen);
    return batch;
  }

  /** The reply to the dequeue of a request that may also settle. */
  #dequeued(
    outcomes: readonly CommandOutcome[],
    settle: SettleParts,
    own: number,
    first: FirstRequest | undefined,
  ): DequeueReply {
    if (own < 0) {
      first?.onSettled(outcomes.slice(0, settle.length));
      return dequeueScript.decode(replyAt(outcomes, settle.length));
    }
    const [settled, dequeued] = repliesInside(replyAt(outcomes, own));
    first?.onSettled(outcomes.slice(0, settle.length).with(own, { reply: settled }));
    return dequeueScript.decode(dequeued);
  }

  /** Looks at the first tasks of partitions, in one request. */
  async #look(others: readonly number[], all: readonly number[], seen: Map<number, PartitionHead>) {
    const { turns, keysOf, testNow } = this.#source;
    const unknown = others.filter((partition) => !seen.has(partition));
    const work = turns.workCall(all, testNow());
    const commands = unknown.map((partition) => headCall(keysOf(partition)));
    if (work) commands.push(work);
    if (commands.length === 0) return;
    const outcomes = await this.#send(commands);
    for (const [i, partition] of unknown.entries()) this.#readHead(partition, outcomes[i], seen);
    if (work) this.#noteWork(all, outcomes.at(-1));
  }

  /** If the registry cannot be reached, all partitions count as active. */
  #noteWork(all: readonly number[], outcome: CommandOutcome | undefined): void {
    const { partitions, turns } = this.#source;
    if (outcome && "error" in outcome && partitions.isDown(0)) return;
    if (turns.noteWork(all, listWorkScript.decode(replyAt([outcome as CommandOutcome], 0))))
      partitions.forget();
  }

  #readHead(partition: number, outcome: CommandOutcome | undefined, seen: Map<number, PartitionHead>): void {
    if (outcome && "error" in outcome && this.#source.partitions.isDown(partition)) return;
    this.#noteHead(partition, headScript.decode(replyAt([outcome as CommandOutcome], 0)), seen);
  }

  #noteHead(partition: number, head: PartitionHead, seen: Map<number, PartitionHead>): void {
    seen.set(partition, head);
    this.#source.turns.noteHead(partition, head);
  }

  /** Whether a partition was seen without tasks that are ready or due. */
  #isEmpty(head: PartitionHead | undefined): boolean {
    if (!head || head.oldestAt > 0) return false;
    return head.nextDueAt === 0 || head.nextDueAt > this.#source.scriptTime();
  }

  /** When to dequeue again: at once if a partition may have tasks. */
  #nextDue(all: readonly number[], seen: ReadonlyMap<number, PartitionHead>): number | null {
    const { partitions, turns, scriptTime } = this.#source;
    const due = all.flatMap((partition) => {
      if (partitions.isDown(partition)) return [];
      const head = seen.get(partition);
      if (head) return head.oldestAt > 0 ? scriptTime() : head.nextDueAt || [];
      return turns.mayHaveWork(partition) ? scriptTime() : turns.idleUntil(partition) || [];
    });
    return due.length > 0 ? Math.min(...due) : null;
  }

  async #noteIdle(seen: ReadonlyMap<number, PartitionHead>): Promise<void> {
    const call = this.#source.turns.idleCall(seen);
    if (call) await this.#send([call]);
  }

  /** Checks the partitions for a long poll. */
  async #check() {
    const { partitions, turns, keysOf, testNow } = this.#source;
    const all = await partitions.all(this.#options.signal);
    const active = all.filter((partition) => turns.mayHaveWork(partition) && !partitions.isDown(partition));
    const work = turns.workCall(all, testNow());
    const commands: Command[] = active.map((partition) => {
      const { pending, fair } = keysOf(partition);
      return ["EXISTS", pending, fair];
    });
    if (work) commands.push(work);
    const outcomes = commands.length > 0 ? await this.#send(commands) : [];
    let hasPending = active.some((partition, i) => {
      return !partitions.isDown(partition) && Number(replyAt(outcomes, i)) > 0;
    });
    if (work) {
      this.#noteWork(all, outcomes.at(-1));
      hasPending ||= all.some((partition) => !active.includes(partition) && turns.mayHaveWork(partition));
    }
    return { hasPending };
  }

  #send(commands: readonly Command[]) {
    return this.#source.transport.send(commands, { signal: this.#options.signal });
  }
}
