import { SluiceError } from "../errors.ts";
import { eachAlone, exchange } from "../kernel/call.ts";
import { type ReplyTo, Shard } from "../kernel/shard.ts";
import { reportExpired } from "../kernel/record/dead-letter.ts";
import { LAST_INSTANT } from "../kernel/options/instants.ts";
import { readShardName } from "../kernel/names/keys.ts";
import { wholeNumber } from "../kernel/options/validation.ts";
import { slicesOf } from "../kernel/slices.ts";
import { isWrongType } from "../kernel/scripts/wrong-type.ts";
import { sweepScript } from "../kernel/scripts/sweep-scripts.ts";
import type { Transport } from "../kernel/transport.ts";
import { CheckedWaker } from "../features/waking/index.ts";
import type { CurrentSweep, PartOfSweep, SweepPart } from "./part.ts";
import { checkOldQueues, isLeftOut } from "./registry-notes.ts";
import type { RegistryPage } from "./registry.ts";
import type { SweepOptions, SweepReport } from "./types.ts";

/** Script calls of one request. */
const CALLS_PER_REQUEST = 50;

/** Most tasks of each kind that one script call moves: more would keep Redis busy for too long. */
const MAX_PER_CALL = 1_000;

interface PassOptions extends SweepOptions {
  readonly only: string | undefined;
  readonly deadline: number;
}

type Swept = () => ReplyTo<typeof sweepScript>;

/** One sweep. */
export class SweepPass implements CurrentSweep {
  transport: Transport;
  readonly options: SweepOptions;
  readonly only: string | undefined;
  readonly limit: number;
  readonly begunAt = performance.now();
  readonly deadline: number;
  readonly #waker: CheckedWaker | undefined;
  readonly failed = new Map<string, string>();
  readonly failedParts = new Map<string, string>();
  readonly marked = new Set<string>();
  readonly toWake = new Set<string>();
  more = false;
  readonly #parts: readonly PartOfSweep[];
  #hasTakenStep = false;
  /** By queue, when its next task is due, epoch ms; only if the waker looks ahead. */
  readonly #nextDue = new Map<string, number>();
  /** When queues must be swept next, epoch ms. */
  readonly #reminders = new Map<string, number>();
  readonly #seen = new Set<string>();
  #counts = { promoted: 0, reclaimed: 0, rejected: 0, expired: 0 };

  constructor(
    transport: Transport,
    { only, deadline, ...options }: PassOptions,
    parts: readonly SweepPart[],
  ) {
    this.transport = transport;
    this.options = options;
    this.only = only;
    this.deadline = deadline;
    this.limit = wholeNumber(options.limit ?? 1_000, "limit", 1, 10_000);
    this.#waker = options.wake && new CheckedWaker(options.wake);
    this.#parts = parts.map((part) => part(this));
  }

  readonly isWanted = (name: string): boolean => this.options.queues?.(queueOf(name)) ?? true;

  readonly shardOf = (name: string): Shard => {
    const { queue, place } = readShardName(name);
    const { prefix, now } = this.options;
    return new Shard({ name: queue, prefix, transport: this.transport, now }, place, name);
  };

  get testNow(): string {
    return this.options.now ? String(this.options.now()) : "";
  }

  remind(name: string, at: number): void {
    if (at <= LAST_INSTANT) this.#reminders.set(name, at);
  }

  async sweepPage(page: RegistryPage): Promise<void> {
    // Parts first, so that a consumer is woken for the tasks that they enqueue.
    const withTasks = new Set<string>();
    for (const part of this.#parts) for (const name of (await part.before?.(page)) ?? []) withTasks.add(name);
    const { now, reminders } = page;
    for (const { queue, at } of reminders) if (at > now && this.isWanted(queue)) this.remind(queue, at);
    const unseen = page.queues.filter((queue) => {
      return !this.#seen.has(queue.name) && this.isWanted(queue.name) && !isLeftOut(queue, now);
    });
    // Shuffled, so that passes that the budget ends reach different queues.
    const queues = shuffled(unseen);
    const checked = await checkOldQueues(this.transport, queues, now, this.options);
    const holding = queues.filter((queue) => !checked.empty.has(queue)).map(({ name }) => name);
    for (const name of [...queues.map(({ name }) => name), ...withTasks]) this.#seen.add(name);
    await this.#sweepUntilDone([...new Set([...holding, ...withTasks])]);
    const notes = this.#parts.flatMap((part) => part.notesOf?.([...checked.empty]) ?? []);
    if (checked.used.length + checked.empty.size + notes.length > 0) {
      const { updateNotes } = await import("./update-notes.ts");
      await updateNotes(this.transport, checked, now, { ...this.options, notes });
    }
    for (const part of this.#parts) await part.after?.(page);
  }

  /** Wakes a consumer of each queue that needs one, and arranges wakes and sweeps for what is due later. */
  async end(): Promise<void> {
    const waker = this.#waker;
    if (!waker) return;
    await Promise.all([
      ...Array.from(this.toWake, (queue) => waker.wake(queue)),
      ...Array.from(this.#nextDue, ([queue, at]) => waker.wakeAt(queue, at)),
      ...Array.from(this.#reminders, ([name, at]) => waker.sweepAt(queueOf(name), at)),
    ]);
  }

  async finish(): Promise<SweepReport> {
    const failed = [...this.failedParts, ...this.failed].map(
      ([name, code]) => [queueOf(name), code] as const,
    );
    const report = {
      queues: new Set(Array.from(this.#seen, queueOf)).size,
      ...this.#counts,
      more: this.more,
      scheduled: 0,
      woken: this.toWake.size,
      failed: Array.from(new Map(failed), ([queue, code]) => ({ queue, code })),
    };
    for (const part of this.#parts) Object.assign(report, await part.finish?.());
    return report;
  }

  async #sweepUntilDone(queues: readonly string[]): Promise<void> {
    let rest = queues;
    // The first look at a queue is one call: most have little to do.
    for (let callsEach = 1; rest.length > 0; callsEach = Math.ceil(this.limit / MAX_PER_CALL)) {
      const unfinished: string[] = [];
      for (const names of slicesOf(rest, Math.ceil(CALLS_PER_REQUEST / callsEach))) {
        // Each sweep takes a step, or slow requests would keep back its work for ever.
        if (this.#hasTakenStep && performance.now() >= this.deadline) {
          this.more = true;
          return;
        }
        this.#hasTakenStep = true;
        unfinished.push(...(await this.#sweepOnce(names, callsEach)));
      }
      rest = unfinished;
    }
  }

  readonly wakeWindow = (queue: string) => this.#waker?.window(queue) ?? "";

  /** Sweeps queues by so many calls each, in one request. @returns those that have work left */
  async #sweepOnce(names: readonly string[], callsEach: number): Promise<string[]> {
    const limit = String(Math.min(this.limit, MAX_PER_CALL));
    const calls = names.flatMap((name) => {
      const wake = this.wakeWindow(queueOf(name));
      const ahead = this.#waker?.looksAhead(queueOf(name)) ? "1" : "";
      const call = this.shardOf(name).call(sweepScript, { limit, wake, ahead });
      return Array.from({ length: callsEach }, () => call);
    });
    const replies = await exchange(eachAlone(this.transport), calls, this.options);
    const swept = slicesOf(replies, callsEach);
    return names.filter((name, i) => swept[i]?.map((reply) => this.#add(name, reply)).at(-1));
  }

  /** Adds the counts of one queue to the report. @returns whether the queue has work left */
  #add(name: string, swept: Swept): boolean {
    try {
      const counts = swept();
      for (const count of ["promoted", "reclaimed", "rejected", "expired"] as const)
        this.#counts[count] += counts[count];
      const queue = queueOf(name);
      reportExpired(this.options.onDeadLetter, queue, counts.deadLetters);
      if (counts.wake) this.toWake.add(queue);
      if (counts.nextDueAt > 0) {
        this.#nextDue.set(queue, Math.min(counts.nextDueAt, this.#nextDue.get(queue) ?? counts.nextDueAt));
      }
      if (counts.newer > 0) this.failed.set(name, "newer_schema");
      return counts.more;
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error;
      this.failed.set(name, error.code);
      if (isWrongType(error) && !name.includes("/")) this.marked.add(name);
      return false;
    }
  }
}

const queueOf = (name: string) => readShardName(name).queue;

function shuffled<T>(items: readonly T[]): T[] {
  const result = [...items];
  for (let i = result.length - 1; i > 0; i--) {
    const other = Math.floor(Math.random() * (i + 1));
    [result[i], result[other]] = [result[other] as T, result[i] as T];
  }
  return result;
}
