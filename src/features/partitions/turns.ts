import type { Call } from "../../kernel/call.ts";
import { redisTime } from "../../kernel/clock.ts";
import { Shard } from "../../kernel/shard.ts";
import { nameOfShard } from "../../kernel/names/keys.ts";
import { digitOf, slotOf } from "../../kernel/names/slots.ts";
import type { Partitions } from "./partitions.ts";
import { listWorkScript, setIdleScript } from "./turn-scripts.ts";

/** How long a consumer uses what it has read of the registry, ms. */
const WORK_AGE = 1_000;

/** How long a consumer relies on the age of a partition's next task that it has read, ms. */
const HEAD_AGE = 5_000;

/** How long after a look a consumer does not look at the same partition again, ms. */
const LOOK_EVERY = 250;

/**
 * How old the note of an idle partition must be, ms. A producer renews its note before an enqueue if it is a
 * minute old. So after a note of this age no enqueue comes without a newer one in front of it.
 */
const IDLE_AFTER = 120_000;

/** When the registry says that partitions are in use. */
export type WorkReply = ReturnType<typeof listWorkScript.decode>;

/** What a consumer has seen of a partition. Instants are epoch ms. */
export interface PartitionHead {
  /** When the first of its ready tasks was enqueued; 0 if none is ready. */
  readonly oldestAt: number;
  /** When the first delayed task is due or lease expires; 0 if there is none. */
  readonly nextDueAt: number;
}

/** From which partition a consumer takes tasks: from the one whose next task was enqueued first. */
export class PartitionTurns {
  readonly #partitions: Partitions;
  /** The queue as a whole, with the key of the registry. */
  readonly #queue: Shard;
  readonly #scores = new Map<number, number>();
  readonly #heads = new Map<number, PartitionHead & { readonly seenAt: number }>();
  readonly #taken = new Set<number>();
  readonly #asked = new Set<number>();
  #readAt = Number.NEGATIVE_INFINITY;
  /** The registry's time when it was read, epoch ms. */
  #now = 0;

  constructor(partitions: Partitions) {
    this.#partitions = partitions;
    this.#queue = new Shard(partitions.queue);
  }

  /** Redis's time, epoch ms, as nearly as it is known. */
  now(): number {
    const { now, transport } = this.#partitions.queue;
    return now?.() ?? redisTime(transport);
  }

  /** The call that reads which partitions have work; undefined if this was read a short time ago. */
  workCall(partitions: readonly number[]): Call<WorkReply> | undefined {
    return Math.abs(this.now() - this.#readAt) < WORK_AGE ? undefined : this.freshWorkCall(partitions);
  }

  /** The call that reads which partitions have work. */
  freshWorkCall(partitions: readonly number[]): Call<WorkReply> {
    const { name: queue } = this.#queue;
    const names = partitions.map((partition) => ({ name: nameOfShard(queue, partition) }));
    return this.#queue.call(listWorkScript, {}, [...names, { name: `/${queue}` }]);
  }

  /** Notes which partitions have work. If the queue has others, this instance reads the map again. */
  noteWork(partitions: readonly number[], { now, scores }: WorkReply): void {
    for (const [i, partition] of partitions.entries()) this.#scores.set(partition, scores[i] ?? 0);
    this.#now = now;
    this.#readAt = this.now();
    if ((scores.at(-1) ?? 0) > Math.max(...partitions) + 1) this.#partitions.forget();
  }

  noteHead(partition: number, head: PartitionHead): void {
    this.#heads.set(partition, { ...head, seenAt: this.now() });
  }

  /** Whether a partition may have tasks that are ready or due. */
  mayHaveWork(partition: number): boolean {
    const score = this.#scores.get(partition);
    return score === undefined || (score > 0 && score <= this.#now);
  }

  /** When an idle partition has work again, epoch ms; 0 if it is not known. */
  idleUntil(partition: number): number {
    const score = this.#scores.get(partition) ?? 0;
    return score > this.#now ? score : 0;
  }

  /**
   * The order in which a dequeue visits partitions.
   * @param token if it may be a resend: then the order derives from it, so that a copy visits the same
   *   partitions. Of any two partitions the same one is first, whichever others there are: another instance may
   *   know of others that have work. If it is not known now which of them have work, none is left out
   */
  order(partitions: readonly number[], token: string | undefined): number[] {
    const isOld = Math.abs(this.now() - this.#readAt) >= WORK_AGE;
    const active = partitions.filter((partition) => {
      return (token !== undefined && isOld) || this.mayHaveWork(partition);
    });
    if (token !== undefined) {
      const rank = (partition: number) => slotOf(token + digitOf(partition));
      return active.toSorted((one, other) => rank(one) - rank(other) || one - other);
    }
    const first = Math.floor(Math.random() * active.length);
    const turned = active.map((_, i) => active[(first + i) % active.length] as number);
    return turned.toSorted((one, other) => this.#age(one) - this.#age(other));
  }

  /** The partition of which the least is known, to look at beside the first; undefined if all are well known. */
  leastKnown(partitions: readonly number[]): number | undefined {
    const seenAt = (partition: number) => this.#heads.get(partition)?.seenAt ?? Number.NEGATIVE_INFINITY;
    const [least] = partitions.toSorted((one, other) => seenAt(one) - seenAt(other));
    return least !== undefined && Math.abs(this.now() - seenAt(least)) > LOOK_EVERY ? least : undefined;
  }

  /** Whether a partition had ready tasks when this consumer last saw it, a short time ago. */
  hadTasks(partition: number): boolean {
    return (this.#recent(partition)?.oldestAt ?? 0) > 0;
  }

  /**
   * Whether this consumer has taken tasks of a partition, and has not dequeued there since and found none. Until then it
   * counts as awake there, so that producers wake no consumer.
   */
  hasTaken(partition: number): boolean {
    return this.#taken.has(partition);
  }

  /** Notes that tasks of partitions are settled, which may have been taken before the queue was divided. */
  noteSettled(parts: readonly { readonly partition: number }[]): void {
    for (const { partition } of parts) if (!this.#asked.has(partition)) this.#taken.add(partition);
  }

  /** Notes that this consumer has dequeued from a partition, and whether it got tasks. */
  noteTaken(partition: number, hasTasks: boolean): void {
    this.#asked.add(partition);
    if (hasTasks) this.#taken.add(partition);
    else this.#taken.delete(partition);
  }

  /** When the first task of a partition was enqueued; later than any instant if none is known. */
  #age(partition: number): number {
    const head = this.#recent(partition);
    return head ? head.oldestAt || Number.MAX_SAFE_INTEGER : 0;
  }

  #recent(partition: number): PartitionHead | undefined {
    const head = this.#heads.get(partition);
    return head && Math.abs(this.now() - head.seenAt) <= HEAD_AGE ? head : undefined;
  }

  /**
   * The call that records partitions above 0 as idle that were seen without ready tasks, and with an old note.
   */
  idleCall(seen: ReadonlyMap<number, PartitionHead>): Call<number> | undefined {
    const idle: { name: string; seen: string; idle: string }[] = [];
    for (const [partition, { oldestAt, nextDueAt }] of seen) {
      const score = this.#scores.get(partition) ?? 0;
      if (nextDueAt > 0 && nextDueAt <= this.#now) continue;
      if (oldestAt > 0 || score <= 0 || score > this.#now - IDLE_AFTER) continue;
      const until = nextDueAt > 0 ? nextDueAt : -score;
      idle.push({
        name: nameOfShard(this.#queue.name, partition),
        seen: String(score),
        idle: String(until),
      });
      this.#scores.set(partition, until);
    }
    return idle.length > 0 ? this.#queue.call(setIdleScript, {}, idle) : undefined;
  }
}
