/** Taking tasks from partitions. */
import { type Call, type CallOfScript, exchange, type Link } from "../../kernel/call.ts";
import { pendingCall } from "../../kernel/lease/peek.ts";
import type { Shard } from "../../kernel/shard.ts";
import type { Taken, TakeRequest } from "../../kernel/store.ts";
import { bothCall, type SettleReply, takeCall, takenBy, type TakeReply } from "../../kernel/lease/take.ts";
import { newToken } from "../../kernel/names/ids.ts";
import { writeReceipt } from "../../kernel/names/receipt.ts";
import { readFixed } from "../../kernel/record/read-record.ts";
import { redisTime } from "../../kernel/clock.ts";
import { headScript } from "./turn-scripts.ts";
import type { Partitions } from "./partitions.ts";
import { type PartitionHead, PartitionTurns, type WorkReply } from "./turns.ts";

/** The settlements of one partition, which the first request of a take also does. */
export interface SettlePart {
  readonly partition: number;
  readonly call: CallOfScript<SettleReply>;
}

/** What one request of a take has answered. */
interface Answered {
  /** One for each part of the settle. */
  readonly settled: readonly SettleReply[];
  readonly taken: () => Promise<Taken>;
}

/** What a take has found out so far. */
interface Round {
  readonly all: readonly number[];
  readonly request: TakeRequest;
  readonly seen: Map<number, PartitionHead>;
  /** The partitions from which it has taken. */
  readonly tried: Set<number>;
  /** Whether it has read which partitions have work. */
  hasWork: boolean;
  /** The error of a database that is down. */
  failure?: unknown;
}

const NOTHING: Taken = {
  tasks: [],
  token: "",
  place: 0,
  nextDueAt: null,
  paused: false,
  endedEarly: false,
};

const nothing = async () => NOTHING;

/**
 * Takes from the partitions of a queue: from the one whose next task is the oldest, as far as this instance knows. It
 * looks at a second one in the same request. If there are no tasks, it looks at all others that have work, and takes
 * from the one whose next task is the oldest.
 */
export class PartitionTakes {
  readonly #partitions: Partitions;
  readonly #turns: PartitionTurns;

  constructor(partitions: Partitions) {
    this.#partitions = partitions;
    const { queue } = partitions;
    this.#turns = new PartitionTurns(queue, () => this.#now());
  }

  async take(request: TakeRequest): Promise<Taken> {
    const { taken } = await this.settleAndTake([], request);
    return taken();
  }

  /** @returns the replies, one for each part; and what finishes the take */
  async settleAndTake(
    parts: readonly SettlePart[],
    request: TakeRequest,
  ): Promise<{ readonly settled: readonly SettleReply[]; readonly taken: () => Promise<Taken> }> {
    const all = await this.#partitions.all(request.requests.options.signal);
    const round: Round = { all, request, seen: new Map(), tried: new Set(), hasWork: false };
    const [home, ...others] = this.#untried(round);
    const second = this.#turns.leastKnown(others);
    const first = await this.#exchange(round, home, second === undefined ? [] : [second], parts);
    return { settled: first.settled, taken: () => this.#finish(round, first.taken) };
  }

  /** Takes from one partition after the other, until there are tasks. */
  async #finish(round: Round, first: Answered["taken"]): Promise<Taken> {
    const { request, seen } = round;
    let taken = await first();
    for (let looked = false; taken.tasks.length === 0 && !taken.paused;) {
      const next = this.#next(round, looked);
      if (next === undefined && looked) break;
      if (next === undefined) {
        looked = true;
        const unknown = request.mayBeCopy ? [] : this.#untried(round).filter((one) => !seen.has(one));
        taken = await (await this.#exchange(round, undefined, unknown)).taken();
      } else {
        taken = await (await this.#exchange(round, next, [])).taken();
      }
    }
    if (round.failure !== undefined && seen.size === 0) throw round.failure;
    const nextDueAt = this.#nextDue(round);
    if (taken.tasks.length === 0 && !taken.paused) await this.#noteIdle(round);
    const isShort = taken.tasks.length > 0 && taken.tasks.length < request.max;
    const endedEarly = isShort && (taken.endedEarly || (nextDueAt !== null && nextDueAt <= this.#now()));
    return { ...taken, nextDueAt, endedEarly };
  }

  #untried({ all, tried, request }: Round): number[] {
    return this.#turns
      .order(all, request.mayBeCopy ? request.token : undefined)
      .filter((partition) => !tried.has(partition) && !this.#partitions.isDown(partition));
  }

  /**
   * The partition to visit next: one that had tasks, or after a look at all of them one that may have some. A take
   * that may be a resend keeps to its order, so that each copy visits the same partitions.
   */
  #next(round: Round, looked: boolean): number | undefined {
    const untried = this.#untried(round);
    if (round.request.mayBeCopy) return untried[0];
    if (looked) return untried.find((partition) => !this.#isEmpty(round.seen.get(partition)));
    return untried.find((partition) => this.#turns.hadTasks(partition));
  }

  /**
   * One request: takes from a partition, looks at others, and reads which have work, if the round has not.
   * @param partition to take from. @default none: nothing is taken
   * @param settle what the request does beside that. @default nothing
   */
  async #exchange(
    round: Round,
    partition: number | undefined,
    looks: readonly number[],
    settle: readonly SettlePart[] = [],
  ): Promise<Answered> {
    const { all, request, tried } = round;
    const partitions = this.#partitions;
    const own = partition === undefined ? undefined : this.#takeFrom(partition, request);
    if (partition !== undefined) tried.add(partition);
    const joined = own ? settle.findIndex((part) => part.partition === partition) : -1;
    const calls: Call<unknown>[] = settle.map(({ call }, i) =>
      i === joined && own ? bothCall(call, own.call) : call,
    );
    if (own && joined < 0) calls.push(own.call);
    const from = calls.length;
    calls.push(...looks.map((other) => partitions.shard(other).call(headScript, {})));
    // A round that finds nothing must have read it, because a producer may just have noted a partition.
    const work = own ? this.#turns.workCall(all) : round.hasWork ? undefined : this.#turns.freshWorkCall(all);
    if (work) calls.push(work);
    const replies = await this.#send(calls, request, own !== undefined).catch((error: unknown) => {
      // One database that is down does not keep back the tasks of others.
      const asked = partition === undefined ? looks : [partition, ...looks];
      if (settle.length > 0 || !asked.every((one) => partitions.isDown(one))) throw error;
      round.failure = error;
    });
    if (!replies) return { settled: [], taken: nothing };
    const readSettled = (_: SettlePart, i: number) => {
      const reply = replies[i]?.();
      return i === joined ? (reply as { settled: SettleReply }).settled : (reply as SettleReply);
    };
    const readTaken = () => {
      const reply = replies[joined < 0 ? settle.length : joined]?.();
      return joined < 0 ? (reply as TakeReply) : (reply as { taken: TakeReply }).taken;
    };
    try {
      for (const [i, other] of looks.entries()) this.#readHead(round, other, replies[from + i]);
      if (work) this.#noteWork(round, replies.at(-1));
      const settled = settle.map(readSettled);
      if (!own) return { settled, taken: nothing };
      const reply = this.#unlessDown(round, own.shard.place, readTaken, settle.length > 0);
      return { settled, taken: reply ? () => this.#taken(round, own, reply) : nothing };
    } catch (error) {
      // Another command of the request has failed.
      if (own) this.#giveBack(own, readTaken);
      throw error;
    }
  }

  #takeFrom(partition: number, given: TakeRequest): Take {
    const shard = this.#partitions.shard(partition);
    const request = given.mayBeCopy ? given : { ...given, token: newToken() };
    return { shard, request, call: takeCall(shard, request) };
  }

  /** Completes the take of one partition, and notes what is there. */
  async #taken(round: Round, { shard, request, call }: Take, reply: TakeReply): Promise<Taken> {
    const taken = await takenBy(shard, request, call, reply);
    const last = taken.tasks.at(-1);
    const isFull = taken.tasks.length >= request.max;
    const oldestAt = isFull && last ? readFixed(last.record).enqueuedAt : 0;
    this.#noteHead(round, shard.place, { oldestAt, nextDueAt: taken.nextDueAt ?? 0 });
    return taken;
  }

  /** A reply; undefined if the database of its partition is down. */
  #unlessDown<T>(round: Round, partition: number, read: () => T, mustAnswer: boolean): T | undefined {
    try {
      return read();
    } catch (error) {
      if (mustAnswer || !this.#partitions.isDown(partition)) throw error;
      round.failure = error;
      return undefined;
    }
  }

  /** Hands back what a reply has leased. If the caller can send the dequeue again, it gets the tasks then. */
  #giveBack({ shard, request }: Take, read: () => TakeReply): void {
    const { mayBeCopy, requests, token } = request;
    if (mayBeCopy) return;
    try {
      const receipts = read().tasks.map((task) => ({
        receipt: writeReceipt({ ...task, token, place: shard.place }),
      }));
      requests.handBack(receipts);
    } catch {
      // It has leased nothing.
    }
  }

  async #send(calls: readonly Call<unknown>[], { requests }: TakeRequest, mayLease: boolean) {
    const { transport } = this.#partitions.queue;
    const link: Link = mayLease ? requests.over(transport) : transport;
    return exchange(link, calls, { signal: requests.options.signal });
  }

  /** If the registry cannot be reached, all partitions count as active. */
  #noteWork(round: Pick<Round, "all" | "hasWork">, read: (() => unknown) | undefined): void {
    round.hasWork = true;
    let reply: WorkReply;
    try {
      reply = read?.() as WorkReply;
    } catch (error) {
      if (this.#partitions.isDown(0)) return;
      throw error;
    }
    if (this.#turns.noteWork(round.all, reply)) this.#partitions.forget();
  }

  #readHead(round: Round, partition: number, read: (() => unknown) | undefined): void {
    let head: PartitionHead;
    try {
      head = read?.() as PartitionHead;
    } catch (error) {
      if (this.#partitions.isDown(partition)) return;
      throw error;
    }
    this.#noteHead(round, partition, head);
  }

  #noteHead({ seen }: Round, partition: number, head: PartitionHead): void {
    seen.set(partition, head);
    this.#turns.noteHead(partition, head);
  }

  /** Whether a partition was seen without tasks that are ready or due. */
  #isEmpty(head: PartitionHead | undefined): boolean {
    if (!head || head.oldestAt > 0) return false;
    return head.nextDueAt === 0 || head.nextDueAt > this.#now();
  }

  /** When to take again: at once if a partition may have tasks. */
  #nextDue({ all, seen }: Round): number | null {
    const turns = this.#turns;
    const due = all.flatMap((partition) => {
      if (this.#partitions.isDown(partition)) return [];
      const head = seen.get(partition);
      if (head) return head.oldestAt > 0 ? this.#now() : head.nextDueAt || [];
      return turns.mayHaveWork(partition) ? this.#now() : turns.idleUntil(partition) || [];
    });
    return due.length > 0 ? Math.min(...due) : null;
  }

  async #noteIdle({ seen, request }: Round): Promise<void> {
    const call = this.#turns.idleCall(seen);
    const { signal } = request.requests.options;
    if (call) await exchange(this.#partitions.queue.transport, [call], { signal });
  }

  /** Whether a partition may have tasks. */
  async mayHaveTasks(signal: AbortSignal | undefined): Promise<boolean> {
    const partitions = this.#partitions;
    const turns = this.#turns;
    const all = await partitions.all(signal);
    const active = all.filter((partition) => turns.mayHaveWork(partition) && !partitions.isDown(partition));
    const work = turns.workCall(all);
    const calls: Call<unknown>[] = active.map((partition) => pendingCall(partitions.shard(partition)));
    if (work) calls.push(work);
    const replies = await exchange(partitions.queue.transport, calls, { signal });
    const hasPending = active.some(
      (partition, i) => !partitions.isDown(partition) && replies[i]?.() === true,
    );
    if (!work) return hasPending;
    this.#noteWork({ all, hasWork: true }, replies.at(-1));
    return hasPending || all.some((partition) => !active.includes(partition) && turns.mayHaveWork(partition));
  }

  /** Redis's time, epoch ms, as nearly as it is known. */
  #now(): number {
    const { now, transport } = this.#partitions.queue;
    return now?.() ?? redisTime(transport);
  }
}

/** The take of one partition. */
interface Take {
  readonly shard: Shard;
  readonly request: TakeRequest;
  readonly call: CallOfScript<TakeReply>;
}
