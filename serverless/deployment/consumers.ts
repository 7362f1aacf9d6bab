import { checkDrainOptions, drain, WORK_OPTIONS } from "../../src/consumer/drain/drain.ts";
import { type DrainOptions, type DrainReport, type Task } from "../../src/consumer/drain/types.ts";
import { addCounts } from "../../src/consumer/drain/drain-counts.ts";
import { withScaleOut } from "../../src/consumer/wake/with-scale-out.ts";
import { invalidArgument } from "../../src/errors.ts";
import type { OnDeadLetter } from "../../src/queue/core/dead-letter.ts";
import { onlyOptions, queueName } from "../../src/queue/core/validation.ts";
import { Queue } from "../../src/queue/tasks/queue.ts";
import { checkedSchema } from "../../src/queue/tasks/schema.ts";
import type { DefinedOptions } from "../../src/queue/tasks/definition.ts";
import type { QueueConsumer, WorkOptions } from "../../src/declared/define-queue.ts";
import { requiredEncryption } from "../../src/queue/values/encryption.ts";
import { timeUntil } from "../../src/queue/redis/clock.ts";
import type { Transport } from "../../src/queue/redis/transport.ts";
import { toConsole, type Waker } from "../../src/queue/tasks/waker.ts";
import { sleep } from "../../src/sleep.ts";
import type { Alarms } from "./alarms.ts";
import type { Consumer, ConsumerHandler, ConsumerOptions } from "./consumer.ts";
import { type WaitUntil, withWaitUntil } from "./pending-work.ts";
import { logFailure } from "./task-log.ts";

/** What consumers need from their deployment. */
export interface ConsumerContext<Env> {
  readonly env: Env;
  readonly transport: Transport;
  readonly prefix: string | undefined;
  /** Wakes another invocation if this one ends before the work does. */
  readonly remoteWaker: Waker | undefined;
  /** How long one invocation may work, ms. */
  readonly budget: number;
  /** True for a long-running process. */
  readonly isProcess: boolean;
  /**
   * In a process: the signals that end it. First `closing` aborts, and handlers may finish. Then `signal`
   * aborts the handlers.
   */
  readonly ending: Pick<DrainOptions, "closing" | "signal"> | undefined;
  /**
   * An invocation with an empty queue waits for the next task if it is due within this time, ms. So a retry need
   * not wait for the next cron. Waiting costs no command. A process sets an alarm instead.
   */
  readonly maxIdle: number;
  /** Sets alarms for what is due later. */
  readonly alarms: Alarms | undefined;
  /** In a process: keeps work running when the process closes. */
  readonly waitUntil: WaitUntil | undefined;
  /** Returns what is called with the dead letters of a drain. */
  readonly onDeadLetterIn: (invocation: {
    readonly waitUntil: WaitUntil;
    readonly timeLeft: () => number;
  }) => OnDeadLetter;
}

/** If several drains of a queue end within this time, ms, only one of them wakes another invocation. */
const HAND_OVER = 100;

/** How long an invocation waits for the next task by default, ms: see {@link ConsumerContext.maxIdle}. */
export const MAX_IDLE = 5_000;

/** The shortest useful budget of a drain, ms. */
const MIN_BUDGET = 1_000;

/** A checked consumer, and the options of its queue. The payloads have the type that its handler takes. */
interface CheckedConsumer<Env> {
  readonly handler: ConsumerHandler<Env, never>;
  readonly work: WorkOptions;
  readonly queue: DefinedOptions<unknown, never>;
}

/** The consumers of a deployment. */
export class Consumers<Env> {
  readonly #all: ReadonlyMap<string, CheckedConsumer<Env>>;
  readonly #context: ConsumerContext<Env>;
  /** In a process: the running drain of each queue, and a function that makes it pull again at once. */
  readonly #drains = new Map<string, { readonly done: Promise<DrainReport>; pullNow: () => void }>();
  /** The queues with a running drain that were woken again. */
  readonly #wokenAgain = new Set<string>();

  /** @throws {SluiceError} `invalid_argument`; the path names the consumer */
  constructor(
    consumers: readonly QueueConsumer<Env>[] | Readonly<Record<string, Consumer<Env>>>,
    context: ConsumerContext<Env>,
  ) {
    this.#context = context;
    this.#all = Array.isArray(consumers)
      ? declaredConsumers(consumers, context)
      : new Map(
          Object.entries(consumers).map(([name, given]) => [
            queueName(name, `consumers.${name}`),
            checked(given, `consumers.${name}`, context),
          ]),
        );
  }

  get none(): boolean {
    return this.#all.size === 0;
  }

  has(queue: string): boolean {
    return this.#all.has(queue);
  }

  /** The schema and encryption of the queue's consumer; undefined if the queue has none here. */
  valuesOf(queue: string): Pick<DefinedOptions<unknown, unknown>, "schema" | "encryption"> | undefined {
    return this.#all.get(queue)?.queue;
  }

  /**
   * Drains a queue. A process runs one drain per queue at a time, so that `concurrency` is the limit of the
   * process.
   * @param time how long it may take, ms
   */
  work(name: string, time: number): Promise<DrainReport> {
    if (!this.#context.isProcess) return this.#drainFor(name, Math.min(time, this.#context.budget));
    const running = this.#drains.get(name);
    if (!running) {
      // Starts after the entry is set, because the drain reads it.
      const started = { done: Promise.resolve().then(() => this.#drainUntilEmpty(name)), pullNow: () => {} };
      this.#drains.set(name, started);
      return started.done;
    }
    // The running drain pulls at once, or starts again if it has just found the queue empty.
    this.#wokenAgain.add(name);
    running.pullNow();
    return running.done;
  }

  #drainFor(name: string, time: number): Promise<DrainReport> {
    const end = performance.now() + time;
    const timeLeft = () => Math.max(0, end - performance.now());
    return withWaitUntil(undefined, end, async (waitUntil) => {
      const onDeadLetter = this.#context.onDeadLetterIn({ waitUntil, timeLeft });
      let report = await this.#drain(name, time, onDeadLetter);
      for (;;) {
        const due = this.#untilDue(report, Math.min(this.#context.maxIdle, timeLeft() - 2 * MIN_BUDGET));
        if (due === undefined) break;
        await sleep(due, undefined);
        const next = await this.#drain(name, timeLeft(), onDeadLetter);
        report = sum(report, next);
        if (tasksOf(next) === 0) break;
      }
      await this.#setAlarm(name, report);
      return report;
    });
  }

  /** Time until the next task is due, ms; undefined if there is none within `most`. */
  #untilDue({ ended, nextDueAt }: DrainReport, most: number): number | undefined {
    if (ended !== "empty" || nextDueAt === null) return undefined;
    // If the time of Redis is not known well, the drain finds nothing, and the next cron finds the task.
    const due = timeUntil(this.#context.transport, nextDueAt);
    return due <= most ? Math.max(due, 0) : undefined;
  }

  async #drainUntilEmpty(name: string): Promise<DrainReport> {
    const { budget, waitUntil = () => {}, onDeadLetterIn } = this.#context;
    const onDeadLetter = onDeadLetterIn({ waitUntil, timeLeft: () => budget });
    let all: DrainReport | undefined;
    try {
      for (;;) {
        this.#wokenAgain.delete(name);
        const report = await this.#drain(name, budget, onDeadLetter);
        all = all ? sum(all, report) : report;
        if (report.ended === "aborted") return all;
        if (report.ended === "budget" || this.#wokenAgain.has(name)) continue;
        await this.#setAlarm(name, report);
        if (!this.#wokenAgain.has(name)) return all;
      }
    } finally {
      this.#drains.delete(name);
    }
  }

  /** Sets an alarm for the queue's next task; also if tasks are left that no other invocation is woken for. */
  async #setAlarm(name: string, { ended, nextDueAt }: DrainReport): Promise<void> {
    const { alarms, transport, remoteWaker } = this.#context;
    if (!alarms || nextDueAt === null) return;
    if (ended !== "empty" && (ended !== "budget" || remoteWaker)) return;
    try {
      await alarms.set("wake", name, timeUntil(transport, nextDueAt));
    } catch (error) {
      toConsole("wake")(error, name);
    }
  }

  /** Wakes consumers elsewhere, and sets alarms for tasks that a running drain requeues. */
  #wakerOfDrain(): Waker | undefined {
    const { alarms, remoteWaker, transport, isProcess, maxIdle } = this.#context;
    if (!alarms) return remoteWaker;
    const wakeAt = (queue: string, at: number) => {
      const after = timeUntil(transport, at);
      // What is due before is what the invocation waits for.
      return isProcess || after > maxIdle ? alarms.set("wake", queue, after) : undefined;
    };
    return { wake: () => {}, ...remoteWaker, wakeAt };
  }

  #onWake(name: string, pullNow: () => void): void {
    const running = this.#drains.get(name);
    if (running) running.pullNow = pullNow;
  }

  /** One drain. If it ends before the work does, it wakes another invocation or process. */
  async #drain(name: string, time: number, onDeadLetter: OnDeadLetter): Promise<DrainReport> {
    const { env, transport, prefix, remoteWaker, ending } = this.#context;
    const { handler, work, queue: options } = this.#all.get(name) as CheckedConsumer<Env>;
    const shared = { transport, prefix, wake: this.#wakerOfDrain(), onDeadLetter };
    const queue = new Queue<unknown, never>({ name, options }, shared);
    const handle = (task: Task<never>): unknown => handler(task, env);
    const budget = Math.max(Math.floor(time), MIN_BUDGET);
    const listen = (pullNow: () => void) => this.#onWake(name, pullNow);
    const source = remoteWaker ? withScaleOut(queue) : queue;
    const around = { ...ending, budget, listen, onFailure: logFailure };
    const report = await drain(source, handle, { ...work, ...around });
    if (tasksOf(report) > 0) console.log(JSON.stringify({ drain: name, ...report }));
    if (remoteWaker && (report.ended === "budget" || report.ended === "aborted")) {
      // A short window: the wake that started this drain must not suppress this one.
      const next = new Queue(name, { transport, prefix, wake: { ...remoteWaker, window: HAND_OVER } });
      await next.wakeAnother().catch(() => {});
    }
    return report;
  }
}

/** @throws {SluiceError} `invalid_argument` */
function declaredConsumers<Env>(
  consumers: readonly QueueConsumer<Env>[],
  { budget }: ConsumerContext<Env>,
): Map<string, CheckedConsumer<Env>> {
  const all = new Map<string, CheckedConsumer<Env>>();
  for (const [i, { queue, handler, options }] of consumers.entries()) {
    const path = `consumers[${i}]`;
    if (typeof handler !== "function") throw invalidArgument(path, "must have a handler that is a function");
    if (all.has(queue.name)) throw invalidArgument(path, `must be the only consumer of ${queue.name}`);
    onlyOptions(options, WORK_OPTIONS, `${path}.`);
    checkDrainOptions({ ...options, budget }, `${path}.`);
    all.set(queue.name, { handler, work: options, queue: queue.options as DefinedOptions<unknown, never> });
  }
  return all;
}

function checked<Env>(
  given: Consumer<Env>,
  path: string,
  { env, budget }: ConsumerContext<Env>,
): CheckedConsumer<Env> {
  const options = (typeof given === "function" ? { handler: given } : given) as ConsumerOptions<Env, never>;
  onlyOptions(options, ["handler", "schema", "encryption", ...WORK_OPTIONS], `${path}.`);
  const { handler, schema, encryption, ...work } = options;
  if (typeof handler !== "function") {
    throw invalidArgument(path, "must be a function, or an object with a function `handler`");
  }
  checkedSchema(schema, `${path}.schema`);
  checkDrainOptions({ ...work, budget }, `${path}.`);
  if (encryption !== undefined && typeof encryption !== "function") {
    throw invalidArgument(`${path}.encryption`, "must be a function that takes the environment");
  }
  const own = encryption && requiredEncryption(encryption(env), `${path}.encryption()`);
  return {
    handler,
    work,
    queue: { schema, encryption: own },
  };
}

function tasksOf({ completed, requeued, rejected, handedBack, lost }: DrainReport): number {
  return completed + requeued + rejected + handedBack + lost;
}

function sum(first: DrainReport, then: DrainReport): DrainReport {
  return { ...then, ...addCounts(first, then) };
}
