import type { Keys } from "../core/keys.ts";
import { derivedName } from "../core/derived-ids.ts";
import type { DequeueOptions } from "../core/types.ts";
import type { Partitions } from "../partitions/partitions.ts";
import { headCall, type PartitionHead, type PartitionTurns } from "../partitions/turns.ts";
import { headScript, listWorkScript } from "../redis/turn-scripts.ts";
import { replyAt } from "../redis/replies.ts";
import { dequeueScript, repliesInside, settleAndDequeueCall } from "../redis/task-scripts.ts";
import type { Command, CommandOutcome, Reply, Transport } from "../redis/transport.ts";
import type { DequeueCall } from "./dequeue.ts";
import type { Batch } from "./leased-task.ts";
import type { LeasingRequests } from "./leasing-requests.ts";
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
  readonly requests: LeasingRequests;
  readonly callFor: (partition: number) => Promise<DequeueCall<Out>>;
}

/** What a dequeue has found out so far. */
interface Round {
  readonly all: readonly number[];
  readonly isLast: boolean;
  readonly seen: Map<number, PartitionHead>;
  /** The partitions from which it has dequeued. */
  readonly tried: Set<number>;
  /** Whether it has read which partitions have work. */
  hasWork: boolean;
  /** The error of a database that is down. */
  failure?: unknown;
}

/** What the first request of a dequeue does beside it. */
interface FirstRequest {
  readonly settle: SettleParts;
  /** What goes before the settlements. */
  readonly notes: readonly ReturnType<typeof registration>[];
  /** The outcomes of the settlements. */
  readonly onSettled: (outcomes: readonly CommandOutcome[]) => void;
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
  static async of<Out>(source: PartitionedSource<Out>) {
    // Checks the options.
    await source.callFor(0);
    const { token, idempotencyKey } = source.requests.options;
    const derived =
      token === undefined && idempotencyKey !== undefined
        ? await derivedName("dequeue", source.name, idempotencyKey)
        : token;
    return new PartitionedDequeue(source, derived);
  }

  private constructor(source: PartitionedSource<Out>, token: string | undefined) {
    const { options } = source.requests;
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
    const round: Round = { all, isLast, seen: new Map(), tried: new Set(), hasWork: false };
    const untried = () =>
      turns
        .order(all, this.#token)
        .filter((partition) => !round.tried.has(partition) && !partitions.isDown(partition));
    const [home, ...others] = untried();
    const second = turns.leastKnown(others);
    let batch = await this.#exchange(round, home, second === undefined ? [] : [second], first);
    let { invalid } = batch;
    for (let looked = false; batch.length === 0 && !batch.paused;) {
      const next = this.#next(untried(), round.seen, looked);
      if (next === undefined && looked) break;
      if (next === undefined) {
        looked = true;
        const unknown = this.#token === undefined ? untried().filter((one) => !round.seen.has(one)) : [];
        batch = await this.#exchange(round, undefined, unknown);
      } else {
        batch = await this.#exchange(round, next, []);
      }
      invalid += batch.invalid;
    }
    if (round.failure !== undefined && round.seen.size === 0) throw round.failure;
    const nextDueAt = this.#nextDue(round);
    if (batch.length === 0 && !batch.paused) await this.#noteIdle(round.seen);
    return Object.assign(batch, { nextDueAt, invalid });
  }

  /**
   * The partition to visit next: one that had tasks, or after a look at all of them one that may have some. A
   * dequeue that may be a resend keeps to its order, so that each copy visits the same partitions.
   */
  #next(
    untried: readonly number[],
    seen: ReadonlyMap<number, PartitionHead>,
    looked: boolean,
  ): number | undefined {
    if (this.#token !== undefined) return untried[0];
    if (looked) return untried.find((partition) => !this.#isEmpty(seen.get(partition)));
    return untried.find((partition) => this.#source.turns.hadTasks(partition));
  }

  /**
   * One request: dequeues from a partition, looks at others, and reads which have work, if the round has not.
   * @param partition to dequeue from. @default none: the batch is empty
   * @param first what the request does beside that. @default nothing
   */
  async #exchange(
    round: Round,
    partition: number | undefined,
    looks: readonly number[],
    first?: FirstRequest,
  ): Promise<Batch<Out>> {
    const { all, seen, tried } = round;
    const { partitions, turns, keysOf, callFor, testNow } = this.#source;
    const call = partition === undefined ? undefined : await callFor(partition);
    const dequeue = call?.callBefore(round.isLast);
    if (partition !== undefined) tried.add(partition);
    const settle = first?.settle ?? [];
    const own = dequeue ? settle.findIndex((part) => part.partition === partition) : -1;
    const commands: Command[] = settle.map((part, i) =>
      i === own && dequeue ? settleAndDequeueCall(part.call, dequeue) : part.call,
    );
    if (dequeue && own < 0) commands.push(dequeue);
    const from = commands.length;
    commands.push(...looks.map((other) => headCall(keysOf(other))));
    // A round that finds nothing must have read it, because a producer may just have noted a partition.
    const work = dequeue
      ? turns.workCall(all, testNow())
      : round.hasWork
        ? undefined
        : turns.freshWorkCall(all, testNow());
    if (work) commands.push(work);
    const none = () => Object.assign([], { nextDueAt: null, paused: false, invalid: 0 });
    if (commands.length === 0) return none();
    const outcomes = await this.#sendNoted(commands, first, call !== undefined).catch((error: unknown) => {
      // One database that is down does not keep back the tasks of others.
      const asked = partition === undefined ? looks : [partition, ...looks];
      if (first || !asked.every((one) => partitions.isDown(one))) throw error;
      round.failure = error;
    });
    if (!outcomes) return none();
    try {
      for (const [i, other] of looks.entries()) this.#readHead(other, outcomes[from + i], seen);
      if (work) this.#noteWork(round, outcomes.at(-1));
      if (!call || partition === undefined) {
        first?.onSettled(outcomes.slice(0, settle.length));
        return none();
      }
      const dequeued = outcomes[settle.length];
      if (!first && dequeued && "error" in dequeued && partitions.isDown(partition)) {
        round.failure = dequeued.error;
        return none();
      }
      const batch = await call.batchOf(this.#dequeued(outcomes, settle, own, first));
      const last = batch.at(-1);
      const isFull = batch.length >= (this.#options.max ?? 1);
      const head = { oldestAt: isFull && last ? last.enqueuedAt : 0, nextDueAt: batch.nextDueAt ?? 0 };
      this.#noteHead(partition, head, seen);
      return batch;
    } catch (error) {
      // Another command of the request has failed.
      const leased = outcomes[own < 0 ? settle.length : own];
      if (leased && "reply" in leased) call?.giveBack(dequeueReply(leased.reply, own));
      throw error;
    }
  }

  /** Sends commands behind the notes of the first request. */
  async #sendNoted(commands: readonly Command[], first: FirstRequest | undefined, mayLease: boolean) {
    const notes = first?.notes ?? [];
    const { transport, requests } = this.#source;
    const { noted, outcomes } = await sendNoted(
      mayLease ? requests.over(transport) : transport,
      notes.map(({ command }) => command),
      commands,
      { signal: this.#options.signal },
    );
    for (const [i, note] of notes.entries()) if (noted[i]) note.done();
    return outcomes;
  }

  /** The reply to the dequeue of a request that may also settle. */
  #dequeued(
    outcomes: readonly CommandOutcome[],
    settle: SettleParts,
    own: number,
    first: FirstRequest | undefined,
  ): DequeueReply {
    const replies = outcomes.slice(0, settle.length);
    if (own >= 0) replies[own] = { reply: repliesInside(replyAt(outcomes, own))[0] };
    first?.onSettled(replies);
    return dequeueReply(replyAt(outcomes, own < 0 ? settle.length : own), own);
  }

  /** If the registry cannot be reached, all partitions count as active. */
  #noteWork(round: Pick<Round, "all" | "hasWork">, outcome: CommandOutcome | undefined): void {
    const { partitions, turns } = this.#source;
    round.hasWork = true;
    if (outcome && "error" in outcome && partitions.isDown(0)) return;
    const reply = listWorkScript.decode(replyAt([outcome as CommandOutcome], 0));
    if (turns.noteWork(round.all, reply)) partitions.forget();
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
  #nextDue({ all, seen }: Round): number | null {
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
      this.#noteWork({ all, hasWork: true }, outcomes.at(-1));
      hasPending ||= all.some((partition) => !active.includes(partition) && turns.mayHaveWork(partition));
    }
    return { hasPending };
  }

  #send(commands: readonly Command[]) {
    return this.#source.transport.send(commands, { signal: this.#options.signal });
  }
}

/** @param own the position of the settle with which the dequeue shares a command; -1: none */
function dequeueReply(reply: Reply, own: number): DequeueReply {
  return dequeueScript.decode(own < 0 ? reply : repliesInside(reply)[1]);
}
