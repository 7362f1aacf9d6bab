/** Taking tasks from partitions. */
import { type Call, type CallOfScript, eachAlone, exchange } from "../../kernel/call.ts";
import { pendingCall } from "../../kernel/lease/peek.ts";
import {
  bothCall,
  type SettleReply,
  takeCall,
  takenBy,
  type TakeReply,
} from "../../kernel/lease/lease-calls.ts";
import type { SettleSlice } from "../../kernel/lease/settle-slices.ts";
import { newToken } from "../../kernel/names/ids.ts";
import { writeReceipt } from "../../kernel/names/receipt.ts";
import { readFixed } from "../../kernel/record/read-record.ts";
import type { Shard } from "../../kernel/shard.ts";
import type { Taken, TakeRequest } from "../../kernel/store.ts";
import type { Partitions } from "./partitions.ts";
import { headScript } from "./turn-scripts.ts";
import { type PartitionHead, PartitionTurns, type WorkReply } from "./turns.ts";

/** Settlements of one partition, which the first request of a take also does. */
export interface SettlePart extends SettleSlice {
  readonly partition: number;
}

/** What a settle and a take in one request have answered. */
interface SettledAndTaken {
  /** One for each part of the settle. */
  readonly settled: readonly SettleReply[];
  /** Finishes the take. */
  readonly taken: () => Promise<Taken>;
}

const NOTHING: Taken = {
  tasks: [],
  token: "",
  place: 0,
  nextDueAt: null,
  paused: false,
  endedEarly: false,
};

/**
 * Takes from the partitions of a queue: from the one whose next task is the oldest, as far as this instance knows. It
 * looks at a second one in the same request. If there are no tasks, it looks at all others that have work, and takes
 * from the one whose next task is the oldest.
 */
export function takesOf(partitions: Partitions) {
  const turns = new PartitionTurns(partitions);
  return {
    turns,
    /** @param parts what the first request settles */
    async settleAndTake(parts: readonly SettlePart[], request: TakeRequest): Promise<SettledAndTaken> {
      const all = await partitions.all(request.requests.options.signal);
      turns.noteSettled(parts);
      return new Round(partitions, turns, all, request).begin(parts);
    },

    /** Whether a partition may have tasks. */
    async mayHaveTasks(signal: AbortSignal | undefined): Promise<boolean> {
      const all = await partitions.all(signal);
      const active = all.filter((one) => turns.mayHaveWork(one) && !partitions.isDown(one));
      const work = turns.workCall(all);
      const calls: Call<unknown>[] = active.map((one) => pendingCall(partitions.shard(one)));
      if (work) calls.push(work);
      const replies = await exchange(partitions.queue.transport, calls, { signal });
      const isPending = (one: number, i: number) => partitions.unlessDown(one, () => replies[i]?.()) === true;
      const hasPending = active.some(isPending);
      if (!work) return hasPending;
      const found = partitions.unlessDown(0, replies.at(-1) as () => WorkReply);
      if (found) turns.noteWork(all, found);
      return hasPending || all.some((one) => !active.includes(one) && turns.mayHaveWork(one));
    },
  };
}

/** The take of one partition. */
interface Take {
  readonly shard: Shard;
  readonly request: TakeRequest;
  readonly call: CallOfScript<TakeReply>;
}

/** One take, and what it has found out so far. */
class Round {
  readonly #partitions: Partitions;
  readonly #turns: PartitionTurns;
  readonly #all: readonly number[];
  readonly #request: TakeRequest;
  readonly #seen = new Map<number, PartitionHead>();
  /** The partitions from which it has taken. */
  readonly #tried = new Set<number>();
  /** Whether it has read which partitions have work. */
  #hasWork = false;
  /** The error of a database that is down. */
  #failure: unknown;

  constructor(partitions: Partitions, turns: PartitionTurns, all: readonly number[], request: TakeRequest) {
    this.#partitions = partitions;
    this.#turns = turns;
    this.#all = all;
    this.#request = request;
  }

  async begin(parts: readonly SettlePart[]): Promise<SettledAndTaken> {
    const [home, ...others] = this.#untried();
    const second = this.#turns.leastKnown(others);
    const { settled, taken } = await this.#exchange(home, second === undefined ? [] : [second], parts);
    return { settled, taken: () => this.#finish(taken) };
  }

  /** Takes from one partition after the other, until there are tasks. */
  async #finish(first: SettledAndTaken["taken"]): Promise<Taken> {
    const { mayBeCopy, max } = this.#request;
    let taken = await first();
    for (let looked = false; taken.tasks.length === 0 && !taken.paused;) {
      const next: number | undefined = this.#next(looked);
      const mustLook: boolean = next === undefined && !looked;
      const target = next ?? this.#untried().find((one) => this.#turns.hasTaken(one));
      if (target === undefined && looked) break;
      looked ||= mustLook;
      const isUnknown = (one: number) => mustLook && one !== target && !mayBeCopy && !this.#seen.has(one);
      taken = await (await this.#exchange(target, this.#untried().filter(isUnknown), [], mustLook)).taken();
    }
    if (this.#failure !== undefined && this.#seen.size === 0) throw this.#failure;
    const nextDueAt = taken.paused ? taken.nextDueAt : this.#nextDue();
    if (taken.tasks.length === 0 && !taken.paused) await this.#noteIdle();
    const isShort = taken.tasks.length > 0 && taken.tasks.length < max;
    const isDue = nextDueAt !== null && nextDueAt <= this.#turns.now();
    return { ...taken, nextDueAt, endedEarly: isShort && (taken.endedEarly || isDue) };
  }

  #untried(): number[] {
    const { mayBeCopy, token } = this.#request;
    return this.#turns
      .order(this.#all, mayBeCopy ? token : undefined)
      .filter((partition) => !this.#tried.has(partition) && !this.#partitions.isDown(partition));
  }

  /**
   * The partition to visit next: one that had tasks, or after a look at all of them one that may have some. A take
   * that may be a resend keeps to its order, so that each copy visits the same partitions.
   */
  #next(looked: boolean): number | undefined {
    const untried = this.#untried();
    if (this.#request.mayBeCopy) return untried[0];
    if (looked) return untried.find((partition) => !this.#isEmpty(this.#seen.get(partition)));
    return untried.find((partition) => this.#turns.hadTasks(partition));
  }

  /**
   * One request: takes from a partition, looks at others, and reads which have work, if the round has not.
   * @param partition to take from. @default none: nothing is taken
   * @param settle what the request does beside that. @default nothing
   * @param mustRead whether it must read which partitions have work, if the round has not. @default false
   */
  async #exchange(
    partition: number | undefined,
    looks: readonly number[],
    settle: readonly SettlePart[] = [],
    mustRead = false,
  ): Promise<SettledAndTaken> {
    const { requests } = this.#request;
    const partitions = this.#partitions;
    const { transport } = partitions.queue;
    const own = partition === undefined ? undefined : this.#takeFrom(partition);
    if (partition !== undefined) this.#tried.add(partition);
    const joined = own && settle.findLast((part) => part.partition === partition);
    const both = own && joined && bothCall(joined.call, own.call);
    const heads = looks.map((other) => ({ other, call: partitions.shard(other).call(headScript, {}) }));
    // A round that finds nothing must have read it, because a producer may just have noted a partition.
    const isFresh = mustRead && !this.#hasWork;
    const work = isFresh ? this.#turns.freshWorkCall(this.#all) : own && this.#turns.workCall(this.#all);
    const calls: readonly Call<unknown>[] = [
      ...settle.map((part) => (part === joined && both ? both : part.call)),
      ...(own && !both ? [own.call] : []),
      ...heads.map(({ call }) => call),
      ...(work ? [work] : []),
    ];
    const link = own ? requests.over(transport) : transport;
    // One database that is down does not keep back the tasks of others.
    const mayFailInPart = settle.length === 0;
    const { signal } = requests.options;
    const replies = await exchange(mayFailInPart ? eachAlone(link) : link, calls, { signal });
    const replyTo = <T>(call: Call<T>) => (replies[calls.indexOf(call)] as () => T)();
    const readTaken = ({ call }: Take) => (both ? replyTo(both).taken : replyTo(call));
    try {
      for (const { other, call } of heads) {
        const head = this.#unlessDown(other, () => replyTo(call));
        if (head) this.#noteHead(other, head);
      }
      this.#hasWork ||= work !== undefined;
      const found = work && this.#unlessDown(0, () => replyTo(work));
      if (found) this.#turns.noteWork(this.#all, found);
      const settled = settle.map((part) =>
        part === joined && both ? replyTo(both).settled : replyTo(part.call),
      );
      if (!own) return { settled, taken: async () => NOTHING };
      // What is settled counts, although nothing can be taken.
      const taken = async () => {
        const take = () => readTaken(own);
        const reply = mayFailInPart ? this.#unlessDown(own.shard.place, take) : take();
        return reply ? this.#taken(own, reply) : NOTHING;
      };
      return { settled, taken };
    } catch (error) {
      // Another command of the request has failed.
      if (own) this.#giveBack(own, readTaken);
      throw error;
    }
  }

  #takeFrom(partition: number): Take {
    const shard = this.#partitions.shard(partition);
    const request = this.#request.mayBeCopy ? this.#request : { ...this.#request, token: newToken() };
    return { shard, request, call: takeCall(shard, request) };
  }

  /** Completes the take of one partition, and notes what is there. */
  async #taken({ shard, request, call }: Take, reply: TakeReply): Promise<Taken> {
    const taken = await takenBy(shard, request, call, reply);
    const last = taken.tasks.at(-1);
    const isFull = taken.tasks.length >= request.max;
    const oldestAt = isFull && last ? readFixed(last.record).enqueuedAt : 0;
    this.#noteHead(shard.place, { oldestAt, nextDueAt: taken.nextDueAt ?? 0 });
    this.#turns.noteTaken(shard.place, last !== undefined);
    return taken;
  }

  /** What is read; undefined if the database of the partition is down. */
  #unlessDown<T>(partition: number, read: () => T): T | undefined {
    return this.#partitions.unlessDown(partition, read, (error) => (this.#failure = error));
  }

  /** Hands back what a reply has leased. If the caller can send the dequeue again, it gets the tasks then. */
  #giveBack(own: Take, read: (own: Take) => TakeReply): void {
    const { mayBeCopy, requests, token } = own.request;
    if (mayBeCopy) return;
    try {
      const { place } = own.shard;
      requests.handBack(
        read(own).tasks.map((task) => ({ receipt: writeReceipt({ ...task, token, place }) })),
      );
    } catch {
      // It has leased nothing.
    }
  }

  #noteHead(partition: number, head: PartitionHead): void {
    this.#seen.set(partition, head);
    this.#turns.noteHead(partition, head);
  }

  /** Whether a partition was seen without tasks that are ready or due. */
  #isEmpty(head: PartitionHead | undefined): boolean {
    if (!head || head.oldestAt > 0) return false;
    return head.nextDueAt === 0 || head.nextDueAt > this.#turns.now();
  }

  /** When to take again: at once if a partition may have tasks. */
  #nextDue(): number | null {
    const turns = this.#turns;
    const due = this.#all.flatMap((partition) => {
      if (this.#partitions.isDown(partition)) return [];
      const head = this.#seen.get(partition);
      if (head) return head.oldestAt > 0 ? turns.now() : head.nextDueAt || [];
      return turns.mayHaveWork(partition) ? turns.now() : turns.idleUntil(partition) || [];
    });
    return due.length > 0 ? Math.min(...due) : null;
  }

  async #noteIdle(): Promise<void> {
    const call = this.#turns.idleCall(this.#seen);
    const { signal } = this.#request.requests.options;
    if (call) await exchange(this.#partitions.queue.transport, [call], { signal });
  }
}
