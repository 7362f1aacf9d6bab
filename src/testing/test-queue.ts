import { operatorOf } from "../open/operator.ts";
import { drain } from "../drain/drain.ts";
import { addCounts, type OutcomeCounts } from "../drain/drain-counts.ts";
import type { DrainOptions, Handler } from "../drain/types.ts";
import { checkSchedules } from "../deploy/declared/check-schedules.ts";
import { defineQueue, type DefinedQueue, isDeclared } from "../deploy/declared/define-queue.ts";
import { opening } from "../open/opening.ts";
import { milliseconds, type Duration } from "../kernel/options/duration.ts";
import { instantMs, LAST_INSTANT } from "../kernel/options/instants.ts";
import { onlyOptions } from "../kernel/options/validation.ts";
import { taskStates, type Enqueued, type EnqueueOptions, type TaskState } from "../kernel/options/types.ts";
import type { Operator } from "../open/operator.ts";
import type { ListedTask, ListTasksOptions } from "../operate/list-tasks.ts";
import type { Transport } from "../kernel/transport.ts";
import type { Offload } from "../features/offload/types.ts";
import type { Schedules } from "../open/schedules/schedules.ts";
import { sweepWith } from "../open/sweep-with.ts";
import { order } from "../open/order/index.ts";
import { schedules } from "../open/schedules/index.ts";
import { sweepPartsWith } from "../open/swept-part.ts";
import type { FlowCalls } from "../open/flows/flow-calls.ts";
import { flowSource } from "../open/flows/flow-source.ts";
import { flowsPart as sweepPart } from "../features/flows/index.ts";
import { notAQueue } from "../open/definition.ts";
import type { Queue } from "../open/queue.ts";
import type { EnqueuedTask } from "./call-log.ts";
import { applyDeclared, connectDeclared } from "./declared-queues.ts";
import { storesInMemory } from "./memory-store.ts";
import { TestDatabase } from "./test-database.ts";

export interface TestQueueOptions {
  /** Where the clock begins: a `Date`, or epoch ms. @default now */
  readonly now?: Date | number | undefined;
}

/** A dead letter, with its payload. */
export type DeadLetterInfo = Extract<ListedTask, { state: "rejected" }>;

/**
 * Makes a queue for a test: the same scripts on an embedded database of its own, with a clock that moves only
 * when the test says so. It needs no Redis. The settings and schedules of a declared queue are applied. The own
 * methods of a declared queue, such as `emails.enqueue(…)`, reach this database from now on. If it declares `offload`,
 * large payloads are kept in memory.
 * @param queue as `defineQueue` made it, or a name
 * @throws {SluiceError} `invalid_argument`
 * @example
 * const test = testQueue(emails);
 * await test.enqueue({ to: "a@example.com" }, { delay: "10m" });
 * await test.advance("10m");
 * expect(await test.work(send)).toMatchObject({ completed: 1 });
 */
export function testQueue<In = unknown, Out = In>(
  queue: DefinedQueue<In, Out> | string,
  options: TestQueueOptions = {},
): TestQueue<In, Out> {
  if (typeof queue !== "string" && !isDeclared(queue)) throw notAQueue();
  return new TestQueue(typeof queue === "string" ? defineQueue<In, Out>(queue) : queue, options);
}

/** A queue for a test. {@link testQueue} makes it. */
export class TestQueue<In = unknown, Out = In> {
  /** The queue, for all its methods. */
  readonly queue: Queue<In, Out>;
  readonly operator: Operator;
  readonly schedules: Schedules<In>;
  /** Reaches the embedded database, for further queues of the same test. */
  readonly transport: Transport;
  readonly #declared: DefinedQueue<In, Out>;
  readonly #database: TestDatabase;
  /** The declared `offload`, with a store in memory. */
  readonly #offload: Offload | undefined;
  #applied: Promise<void> | undefined;

  constructor(declared: DefinedQueue<In, Out>, options: TestQueueOptions) {
    onlyOptions(options, ["now"]);
    checkSchedules(declared, schedules, order, "");
    this.#declared = declared;
    this.#database = new TestDatabase(instantMs(options.now ?? Date.now(), "now", LAST_INSTANT));
    const { transport } = this.#database;
    this.transport = {
      ...transport,
      send: async (commands, sending) => {
        await this.#ready();
        return transport.send(commands, sending);
      },
    };
    const { offload } = declared.options;
    this.#offload = offload && storesInMemory()(offload);
    const open = opening({ transport: this.transport, offload: this.#offload, schedules })(declared);
    this.queue = open.queue();
    this.operator = operatorOf(open);
    this.schedules = open.schedules();
    // Handlers may use the declared queue's own methods.
    connectDeclared(declared, open.options);
  }

  /** The clock, epoch ms. */
  get now(): number {
    return this.#database.now;
  }

  /** Adds a task, as `Queue.enqueue`. */
  enqueue(payload: In, options?: EnqueueOptions): Promise<Enqueued> {
    return this.queue.enqueue(payload, options);
  }

  /**
   * Moves the clock. On the way, tasks and schedules that are due become pending, leases expire, and records are
   * removed, each at its time. It calls no handler.
   * @param time how far, such as "10m"
   * @throws {SluiceError} `invalid_argument`, also if the clock has to stop more than 10,000 times
   */
  async advance(time: Duration): Promise<void> {
    const ms = milliseconds(time, "time");
    await this.#ready();
    await this.#database.advance(ms, () => this.#sweep());
  }

  /**
   * Calls the handler for each pending task, as `drain` does, until none is pending. The clock does not move, so a
   * task that fails waits for its next attempt.
   * @param options of the drain; those of a declared queue are the defaults
   * @returns how many deliveries ended in each way
   */
  async work(handler: Handler<Out, FlowCalls>, options: DrainOptions = {}): Promise<OutcomeCounts> {
    const open = opening({ transport: this.transport, offload: this.#offload });
    const source = flowSource(this.queue, (name) => open(name).queue());
    const report = await drain(source, handler, { ...this.#declared.work, ...options });
    const { completed, requeued, rejected, handedBack, lost } = report;
    return { completed, requeued, rejected, handedBack, lost };
  }

  /**
   * {@link work} until every task of the queue has ended: moves the clock to each delayed task, each lease that
   * expires, and each instant at which a rate allows more. Schedules do not run meanwhile. What they miss,
   * {@link advance} makes up for as after an outage.
   * @returns how many of all deliveries ended in each way
   * @throws {SluiceError} `invalid_argument` if pending tasks are left, such as those of a paused queue, or if tasks
   *   still wait after 10,000 stops of the clock
   * @example
   * await test.enqueue({ to: "down@example.com" });
   * expect(await test.workToEnd(send)).toMatchObject({ requeued: 9, rejected: 1 });
   */
  async workToEnd(handler: Handler<Out, FlowCalls>, options: DrainOptions = {}): Promise<OutcomeCounts> {
    let total: OutcomeCounts = { completed: 0, requeued: 0, rejected: 0, handedBack: 0, lost: 0 };
    await this.#ready();
    const work = async () => {
      await this.#sweep();
      total = addCounts(total, await this.work(handler, options));
    };
    await this.#database.moveToEnd(work, (queue) => queue === this.queue.name);
    return total;
  }

  /**
   * The tasks that the queue has, with their payloads as far as they are kept: a completed task has none.
   * @param state the only state to list. Default: all of them
   */
  tasks(state?: TaskState): Promise<ListedTask[]> {
    return listTasks(this.operator, state);
  }

  /** The dead letters: rejected tasks that were not cancelled. */
  async deadLetters(): Promise<DeadLetterInfo[]> {
    return deadLettersAmong(await this.tasks("rejected"));
  }

  /** All tasks that were enqueued so far, in order and with their payloads, except those of schedules. */
  get enqueued(): readonly EnqueuedTask<In>[] {
    return this.#database.log.tasksOf(this.queue.name) as EnqueuedTask<In>[];
  }

  async #sweep(): Promise<void> {
    await sweepWith(sweepPartsWith(schedules, [{ sweepPart }]), this.transport, {
      offload: this.#offload,
    });
  }

  /** Applies the declaration, before the first command. */
  #ready(): Promise<void> {
    return (this.#applied ??= applyDeclared(this.#database.transport, [this.#declared]));
  }
}

/** All tasks of a queue, with their payloads as far as they are kept. Cancelled ones are among the rejected. */
export async function listTasks(operator: Operator, state?: TaskState): Promise<ListedTask[]> {
  const found: ListedTask[] = [];
  for (const one of state === undefined ? taskStates : [state]) {
    found.push(...(await listAll(operator, { state: one })));
    if (one === "rejected") found.push(...(await listAll(operator, { state: one, reason: "cancelled" })));
  }
  return found;
}

async function listAll(operator: Operator, which: ListTasksOptions): Promise<ListedTask[]> {
  const found: ListedTask[] = [];
  let cursor: string | undefined;
  do {
    const page = await operator.list({ ...which, payloads: true, size: 1_000, cursor });
    found.push(...page.tasks);
    cursor = page.cursor ?? undefined;
  } while (cursor !== undefined);
  return found;
}

export function deadLettersAmong(tasks: readonly ListedTask[]): DeadLetterInfo[] {
  return tasks.filter(
    (task): task is DeadLetterInfo => task.state === "rejected" && task.reason !== "cancelled",
  );
}
