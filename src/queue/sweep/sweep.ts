import { SluiceError } from "../../errors.ts";
import { reportExpired, type OnDeadLetter } from "../core/dead-letter.ts";
import { deadlineOf, type Duration } from "../core/duration.ts";
import { mapsKey, queueKeys, readPartitionName, registryKey } from "../core/keys.ts";
import { groupedBy } from "../core/slices.ts";
import { onlyOptions, optionalFunction, queueName, wholeNumber } from "../core/validation.ts";
import { copySettings } from "../partitions/copy-settings.ts";
import { isWrongType, markersCommand, moveNotes, readMarker, renameKeys } from "../partitions/marker.ts";
import { resizeQueue } from "../partitions/resize.ts";
import { rebalanceShares } from "../partitions/shares.ts";
import { keepPartitions } from "../partitions/upkeep.ts";
import { lastReply, replyAt } from "../redis/replies.ts";
import { readRegistered, readRegistry, type RegistryPage } from "./registry.ts";
import { checkOldQueues, isLeftOut, updateNotes } from "./registry-notes.ts";
import { callOf } from "../redis/binding.ts";
import { SchedulePass } from "../schedules/schedule-pass.ts";
import { sweepScript } from "../redis/sweep-scripts.ts";
import { registerCall } from "../tasks/registration.ts";
import { CheckedWaker, type Waker } from "../tasks/waker.ts";
import { checkedOffload, type Offload, type OrphanReport } from "../values/offload.ts";
import { type CommandOutcome, sendForEach, type Transport, withPrefix } from "../redis/transport.ts";
import type { SweepCounts } from "../core/counts.ts";

/** Queues swept in one request. */
const QUEUES_PER_REQUEST = 50;

const OPTIONS = [
  "budget",
  "prefix",
  "queue",
  "queues",
  "limit",
  "wake",
  "onDeadLetter",
  "offload",
  "signal",
  "now",
] as const satisfies readonly (keyof SweepOptions)[];

export interface SweepOptions {
  /** When to stop, and report `more`. A sweep takes at least one step. @default "20s" */
  readonly budget?: Duration | undefined;
  /** First part of every key. @default that of the transport, or "sluice" */
  readonly prefix?: string | undefined;
  /** Sweeps only this queue, without listing the others. @default every registered queue */
  readonly queue?: string | undefined;
  /** Whether to sweep a registered queue. @default all of them */
  readonly queues?: ((name: string) => boolean) | undefined;
  /** Most tasks of each kind that one script call moves, 1 to 10,000. @default 1,000 */
  readonly limit?: number | undefined;
  /**
   * Wakes a consumer of each queue that has ready tasks and no active consumer. If it has `wakeAt` or
   * `sweepAt`, the sweep calls them for what will be due next.
   * @default wakes none
   */
  readonly wake?: Waker | undefined;
  /**
   * Called once with each task that the sweep makes a dead letter: its last lease expired, or its worker is
   * silent. The sweep does not wait for it. If it fails, one line is written to the console. If Redis's reply
   * is lost, it is not called.
   * @default none
   */
  readonly onDeadLetter?: OnDeadLetter | undefined;
  /**
   * Also removes objects that no task needs any more: looks at a page of the object store. Ignored if `queue` is given.
   * @default none: such objects stay
   */
  readonly offload?: Offload | undefined;
  /** Aborts the requests; `sweep` then throws `aborted`. */
  readonly signal?: AbortSignal | undefined;
  /** For tests only: the clock (epoch ms) instead of Redis's. */
  readonly now?: (() => number) | undefined;
}

export interface SweepReport extends SweepCounts {
  /** How many queues were swept or checked. */
  readonly queues: number;
  /** How many occurrences of schedules were enqueued. */
  readonly scheduled: number;
  /** How many queues had a consumer woken. */
  readonly woken: number;
  /** Queues that could not be swept completely, each with the code of the error. */
  readonly failed: readonly { readonly queue: string; readonly code: string }[];
  /** What was done in the object store; only if the sweep has `offload`. */
  readonly objects?: OrphanReport | undefined;
}

/**
 * Sweeps every registered queue: promotes due tasks, reclaims expired leases, removes expired records, and
 * enqueues due occurrences of schedules. One request sweeps up to 50 queues. Any number of sweeps may run at
 * the same time.
 * @param transport how to reach Redis, such as `upstash(env)`
 * @param options by default all queues, for 20 s
 * @returns the counts; `more` is true if work is left
 * @throws {SluiceError} `invalid_argument`, or if Redis cannot be reached. A fault of one queue is in the
 *   report instead
 * @example
 * // From a cron trigger, each minute.
 * const { promoted, reclaimed, more } = await sweep(upstash(env), { budget: "20s" });
 */
export async function sweep(transport: Transport, given: SweepOptions = {}): Promise<SweepReport> {
  onlyOptions(given, OPTIONS);
  const options = withPrefix(transport, given);
  optionalFunction(options.onDeadLetter, "onDeadLetter");
  const { prefix, signal, now } = options;
  const offload = checkedOffload(options.offload);
  const only = options.queue === undefined ? undefined : queueName(options.queue, "queue");
  const deadline = deadlineOf(options.budget);
  const pass = new SweepPass(transport, options, deadline);
  let cursor: string | undefined;
  try {
    do {
      const page = await (only === undefined
        ? readRegistry(transport, { prefix, signal, now, cursor, size: 1_000 })
        : readRegistered(transport, only, { prefix, signal, now }));
      await pass.sweepPage(page);
      cursor = page.cursor ?? undefined;
    } while (cursor !== undefined && performance.now() < deadline);
  } finally {
    // Also if the sweep throws: Redis counts these wakes as sent.
    await pass.wake();
  }
  const report = pass.report(cursor !== undefined);
  if (!offload || only !== undefined) return report;
  const objects = await offload.removeOrphans({ transport, prefix, signal, now, until: deadline });
  return { ...report, objects };
}

class SweepPass {
  readonly #transport: Transport;
  readonly #options: SweepOptions;
  readonly #limit: string;
  /** On the clock of `performance.now()`. */
  readonly #deadline: number;
  #hasTakenStep = false;
  readonly #wanted: (name: string) => boolean;
  readonly #schedules: SchedulePass;
  readonly #waker: CheckedWaker | undefined;
  readonly #toWake = new Set<string>();
  /** By queue, when its next task is due, epoch ms; only if the waker looks ahead. */
  readonly #nextDue = new Map<string, number>();
  readonly #seen = new Set<string>();
  /** Queues whose own keys hold values of another type: markers, if they have got partitions. */
  readonly #marked = new Set<string>();
  readonly #failed = new Map<string, string>();
  #counts: SweepCounts = { promoted: 0, reclaimed: 0, rejected: 0, expired: 0, more: false };

  constructor(transport: Transport, options: SweepOptions, deadline: number) {
    this.#transport = transport;
    this.#deadline = deadline;
    this.#options = options;
    const limit = wholeNumber(options.limit ?? 1_000, "limit", 1, 10_000);
    this.#limit = String(limit);
    const { prefix, signal, now } = options;
    const until = (performance.now() + deadline) / 2;
    this.#schedules = new SchedulePass(transport, { prefix, signal, now, limit, until });
    const { queues: isWanted = () => true } = options;
    this.#wanted = (name) => isWanted(readPartitionName(name).queue);
    this.#waker = options.wake && new CheckedWaker(options.wake);
  }

  report(more: boolean): SweepReport {
    return {
      queues: new Set(Array.from(this.#seen, queueOf)).size,
      ...this.#counts,
      more: this.#counts.more || this.#schedules.more || more,
      scheduled: this.#schedules.scheduled,
      woken: this.#toWake.size,
      failed: Array.from(
        new Map([...this.#schedules.failed, ...this.#failed].map(([name, code]) => [queueOf(name), code])),
        ([queue, code]) => ({ queue, code }),
      ),
    };
  }

  /** Wakes a consumer of each queue that needs one, and arranges wakes and sweeps for what is due later. */
  async wake(): Promise<void> {
    const waker = this.#waker;
    if (!waker) return;
    await Promise.all([
      ...Array.from(this.#toWake, (queue) => waker.wake(queue)),
      ...Array.from(this.#nextDue, ([queue, at]) => waker.wakeAt(queue, at)),
      ...Array.from(this.#schedules.next, ([name, at]) => waker.sweepAt(queueOf(name), at)),
    ]);
  }

  async sweepPage({ queues: page, partitioned, reminders, now }: RegistryPage): Promise<void> {
    // Schedules first, so that a consumer is woken for the tasks that they enqueue.
    const dueReminders = reminders.filter(({ queue, at }) => at <= now && this.#wanted(queue));
    await this.#notePartitions(dueReminders.map(({ queue }) => queue));
    const scheduled = await this.#schedules.run(dueReminders);
    if (this.#waker)
      this.#schedules.noteReminders(
        reminders.filter(({ queue }) => this.#wanted(queue)),
        now,
      );
    const unseen = page.filter((queue) => {
      return !this.#seen.has(queue.name) && this.#wanted(queue.name) && !isLeftOut(queue, now);
    });
    // Shuffled, so that passes that the budget ends reach different queues.
    const queues = shuffled(unseen);
    for (const { name } of queues) this.#seen.add(name);
    const checked = await checkOldQueues(this.#transport, queues, now, this.#options);
    const holding = queues.filter((queue) => !checked.empty.has(queue));
    for (const name of scheduled) this.#seen.add(name);
    await this.#sweepUntilDone([...new Set([...holding.map(({ name }) => name), ...scheduled])]);
    await updateNotes(this.#transport, checked, now, this.#options);
    const moved = await this.#moveNotes();
    await this.#keepPartitions(page, [...partitioned, ...moved], now);
  }

  /** Gives partition 0 what the registry still has of queues that have got partitions. Returns these queues. */
  async #moveNotes(): Promise<string[]> {
    const { prefix, signal, now } = this.#options;
    const moved: string[] = [];
    for (const name of new Set([...this.#marked, ...this.#schedules.marked])) {
      const queue = { name, prefix, transport: this.#transport, signal, now, copySettings };
      try {
        const marked = await readMarker(queue);
        if (!marked) continue;
        await moveNotes(queue);
        // The caller that renamed the keys has stopped.
        if (marked.map.version === 0) await resizeQueue(queue, marked.count, marked.map);
        this.#failed.delete(name);
        this.#schedules.failed.delete(name);
        moved.push(name);
      } catch (error) {
        if (!(error instanceof SluiceError) || error.code === "aborted") throw error;
        this.#failed.set(name, error.code);
      }
    }
    this.#marked.clear();
    this.#schedules.marked.clear();
    return moved;
  }

  /** Notes that partitions are in use whose schedules are due: they are about to have tasks. */
  async #notePartitions(names: readonly string[]): Promise<void> {
    const partitions = names.filter((name) => name.includes("/"));
    if (partitions.length === 0) return;
    const keys = { queues: registryKey(this.#options.prefix) };
    await this.#transport.send([registerCall(keys, partitions, this.#testNow())], this.#options);
  }

  /** Keeps the maps of the queues with partitions that are on a page of the registry. */
  async #keepPartitions(
    page: RegistryPage["queues"],
    partitioned: RegistryPage["partitioned"],
    now: number,
  ): Promise<void> {
    const partitions = page
      .filter(({ name }) => name.includes("/"))
      .map(({ name }) => readPartitionName(name));
    const found = groupedBy(partitions, ({ queue }) => queue);
    const names = [...new Set([...partitioned, ...found.keys()])].filter(this.#wanted);
    if (names.length === 0) return;
    const { prefix, signal, now: testNow } = this.#options;
    const markers = names.map((name) => markersCommand({ name, prefix }));
    const outcomes = await this.#transport.send([["HMGET", mapsKey(prefix), ...names], ...markers], {
      signal,
    });
    const maps = replyAt(outcomes, 0) as readonly (string | null)[];
    for (const [i, name] of names.entries()) {
      const queue = { name, prefix, transport: this.#transport, signal, now: testNow, copySettings };
      const registered = (found.get(name) ?? []).map(({ partition }) => partition);
      try {
        const marks = replyAt(outcomes, i + 1) as readonly (string | null)[];
        // Redis has lost the change that put them there. The count of a marker matters only while there is no map.
        if (marks.includes(null) && maps[i] != null) await renameKeys(queue, 2);
        const kept = await keepPartitions(queue, maps[i] ?? null, registered, now, this.#deadline);
        const wake = this.#waker?.window(name) ?? "";
        const mustWake = await rebalanceShares(queue, kept, { testNow: this.#testNow(), wake });
        if (mustWake) this.#toWake.add(name);
      } catch (error) {
        if (!(error instanceof SluiceError)) throw error;
        this.#failed.set(name, error.code);
      }
    }
  }

  async #sweepUntilDone(queues: readonly string[]): Promise<void> {
    let rest = queues;
    while (rest.length > 0) {
      // Each sweep takes a step, or slow requests would keep back its work for ever.
      if (this.#hasTakenStep && performance.now() >= this.#deadline) {
        this.#counts = { ...this.#counts, more: true };
        return;
      }
      this.#hasTakenStep = true;
      const names = rest.slice(0, QUEUES_PER_REQUEST);
      const outcomes = await sendForEach(
        this.#transport,
        names.map((name) =>
          callOf(sweepScript, queueKeys(name, this.#options.prefix), {
            testNow: this.#testNow(),
            limit: this.#limit,
            wake: this.#waker?.window(queueOf(name)) ?? "",
            ahead: this.#waker?.looksAhead(queueOf(name)) ? "1" : "",
          }),
        ),
        this.#options,
      );
      const unfinished = names.filter((name, i) => this.#add(name, outcomes[i] as CommandOutcome));
      rest = [...rest.slice(QUEUES_PER_REQUEST), ...unfinished];
    }
  }

  /** Adds the counts of one queue to the report. @returns whether the queue has work left */
  #add(name: string, outcome: CommandOutcome): boolean {
    try {
      const counts = sweepScript.decode(lastReply([outcome]));
      this.#counts = {
        promoted: this.#counts.promoted + counts.promoted,
        reclaimed: this.#counts.reclaimed + counts.reclaimed,
        rejected: this.#counts.rejected + counts.rejected,
        expired: this.#counts.expired + counts.expired,
        more: this.#counts.more,
      };
      const queue = queueOf(name);
      reportExpired(this.#options.onDeadLetter, queue, counts.deadLetters);
      if (counts.wake) this.#toWake.add(queue);
      if (counts.nextDueAt > 0) {
        this.#nextDue.set(queue, Math.min(counts.nextDueAt, this.#nextDue.get(queue) ?? counts.nextDueAt));
      }
      if (counts.newer > 0) this.#failed.set(name, "newer_schema");
      return counts.more;
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error;
      this.#failed.set(name, error.code);
      if (isWrongType(error) && !name.includes("/")) this.#marked.add(name);
      return false;
    }
  }

  #testNow(): string {
    return this.#options.now ? String(this.#options.now()) : "";
  }
}

const queueOf = (name: string) => readPartitionName(name).queue;

function shuffled<T>(items: readonly T[]): T[] {
  const result = [...items];
  for (let i = result.length - 1; i > 0; i--) {
    const other = Math.floor(Math.random() * (i + 1));
    [result[i], result[other]] = [result[other] as T, result[i] as T];
  }
  return result;
}
