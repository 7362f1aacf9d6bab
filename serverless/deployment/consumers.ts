import { checkDrainOptions, drain, WORK_OPTIONS } from "../../src/consumer/drain/drain.ts";
import { type DrainOptions, type DrainReport, type Task } from "../../src/consumer/drain/types.ts";
import { withScaleOut } from "../../src/consumer/wake/with-scale-out.ts";
import { watched } from "../../src/consumer/drain/source.ts";
import { invalidArgument } from "../../src/errors.ts";
import { cut } from "../../src/queue/core/codec.ts";
import { onlyOptions, queueName } from "../../src/queue/core/validation.ts";
import { Queue } from "../../src/queue/tasks/queue.ts";
import { checkedSchema } from "../../src/queue/tasks/schema.ts";
import { requiredEncryption, type Encryption } from "../../src/queue/values/encryption.ts";
import type { Transport } from "../../src/queue/redis/transport.ts";
import type { Waker } from "../../src/queue/tasks/waker.ts";
import { sleep } from "../../src/sleep.ts";
import type { Consumer, ConsumerOptions } from "./consumer.ts";

/** What consumers need of their deployment. */
export interface Place<Env> {
  readonly env: Env;
  readonly transport: Transport;
  readonly prefix: string | undefined;
  /** Who is woken to go on where this one ends before its work. */
  readonly elsewhere: Waker | undefined;
  /** How long one invocation may work, ms. */
  readonly budget: number;
  /** True for a process that lives on. */
  readonly lives: boolean;
  /** How a drain is told that the process is to end: first gently, then at once. */
  readonly ending: Pick<DrainOptions, "closing" | "signal"> | undefined;
}

/** Of drains that end within this time of each other, ms, one hands over. */
const HAND_OVER = 100;

/**
 * How long a consumer that has found nothing stays for a task that it knows to fall due, ms: a retry need not wait for the
 * next minute. It costs no command.
 */
const STAYS = { forInvocations: 5_000, inProcesses: 60_000 };

/** What a drain needs to do something, ms. */
const LEAST = 1_000;

/** Why no handler saw some tasks; each keeps the reason of its own. */
const UNFIT = "payloads that cannot be decrypted or do not fit the schema: their tasks are dead letters";

/** One that works here, with what it decrypts its tasks with. */
type Working<Env> = Omit<ConsumerOptions<Env, never>, "encryption"> & {
  readonly encryption: Encryption | undefined;
};

/** Those who work on queues here. */
export class Consumers<Env> {
  readonly #all: ReadonlyMap<string, Working<Env>>;
  readonly #place: Place<Env>;
  /** In a process that lives on: the queues that are worked on, and what makes those who work, or stay, look for more. */
  readonly #working = new Map<string, { readonly done: Promise<DrainReport>; rouse: () => void }>();
  /** Those of them for which a wake has come meanwhile. */
  readonly #wokenAgain = new Set<string>();

  /** @throws {SluiceError} `invalid_argument`; the path names the consumer */
  constructor(consumers: Readonly<Record<string, Consumer<Env>>>, place: Place<Env>) {
    this.#place = place;
    this.#all = new Map(
      Object.entries(consumers).map(([name, given]) => [
        queueName(name, `consumers.${name}`),
        checked(given, `consumers.${name}`, place),
      ]),
    );
  }

  get none(): boolean {
    return this.#all.size === 0;
  }

  has(queue: string): boolean {
    return this.#all.has(queue);
  }

  /** What the payloads of a queue are to those who work on it here; nothing where nobody does. */
  valuesOf(queue: string): Pick<Working<Env>, "schema" | "encryption"> | undefined {
    return this.#all.get(queue);
  }

  /**
   * Works on a queue. In a process that lives on, one drain at a time does: so its `concurrency` holds.
   * @param time how long it may take, ms
   */
  work(name: string, time: number): Promise<DrainReport> {
    if (!this.#place.lives) return this.#workFor(name, Math.min(time, this.#place.budget));
    const working = this.#working.get(name);
    if (!working) {
      // Not before it stands there: what it calls looks it up.
      const begun = { done: Promise.resolve().then(() => this.#goOn(name)), rouse: () => {} };
      this.#working.set(name, begun);
      return begun.done;
    }
    // That drain looks at once; or it may just have found that nothing is left.
    this.#wokenAgain.add(name);
    working.rouse();
    return working.done;
  }

  async #workFor(name: string, time: number): Promise<DrainReport> {
    const end = performance.now() + time;
    let report = await this.#drain(name, time);
    for (;;) {
      const left = end - performance.now();
      const due = untilDue(report, Math.min(STAYS.forInvocations, left - 2 * LEAST));
      if (due === undefined) return report;
      await sleep(due, undefined);
      const next = await this.#drain(name, end - performance.now());
      if (tasksOf(next) === 0) return sum(report, next);
      report = sum(report, next);
    }
  }

  async #goOn(name: string): Promise<DrainReport> {
    const { budget, ending } = this.#place;
    let all: DrainReport | undefined;
    try {
      for (;;) {
        this.#wokenAgain.delete(name);
        const report = await this.#drain(name, budget);
        all = all ? sum(all, report) : report;
        if (report.ended === "aborted") return all;
        if (report.ended === "budget" || this.#wokenAgain.has(name)) continue;
        const due = untilDue(report, STAYS.inProcesses);
        if (due === undefined) return all;
        await this.#pause(name, due, ending?.closing);
        if (ending?.closing?.aborted) return all;
      }
    } finally {
      this.#working.delete(name);
    }
  }

  /** Waits, unless a wake comes or the process is to end. */
  async #pause(name: string, ms: number, closing: AbortSignal | undefined): Promise<void> {
    const roused = new AbortController();
    const rouse = () => roused.abort();
    this.#rouseBy(name, rouse);
    closing?.addEventListener("abort", rouse);
    if (!closing?.aborted) await sleep(ms, roused.signal);
    closing?.removeEventListener("abort", rouse);
  }

  #rouseBy(name: string, rouse: () => void): void {
    const working = this.#working.get(name);
    if (working) working.rouse = rouse;
  }

  /** One drain; where that ends before the work does, another invocation or process goes on. */
  async #drain(name: string, time: number): Promise<DrainReport> {
    const { env, transport, prefix, elsewhere: wake, ending } = this.#place;
    const { handler, schema, encryption, ...options } = this.#all.get(name) as Working<Env>;
    const queue = new Queue<unknown, never>(name, { transport, prefix, schema, encryption, wake });
    const handle = async (task: Task<never>): Promise<unknown> => {
      try {
        return await handler(task, env);
      } catch (error) {
        const { id, attempt } = task;
        console.error(JSON.stringify({ queue: name, task: id, attempt, failed: reasonOf(error) }));
        throw error;
      }
    };
    const budget = Math.max(Math.floor(time), LEAST);
    const listen = (look: () => void) => this.#rouseBy(name, look);
    let invalid = 0;
    const source = watched(wake ? withScaleOut(queue) : queue, (tasks) => void (invalid += tasks.invalid));
    const report = await drain(source, handle, { ...options, ...ending, budget, listen }).finally(() => {
      if (invalid > 0) console.error(JSON.stringify({ queue: name, invalid, failed: UNFIT }));
    });
    if (tasksOf(report) > 0) console.log(JSON.stringify({ drain: name, ...report }));
    if (wake && (report.ended === "budget" || report.ended === "aborted")) {
      // The wake that began this drain, not long ago where the budget is short, is no reason not to send another.
      const next = new Queue(name, { transport, prefix, wake: { ...wake, window: HAND_OVER } });
      await next.wakeAnother().catch(() => {});
    }
    return report;
  }
}

function checked<Env>(given: Consumer<Env>, path: string, { env, budget }: Place<Env>): Working<Env> {
  const options = (typeof given === "function" ? { handler: given } : given) as ConsumerOptions<Env, never>;
  onlyOptions(options, ["handler", "schema", "encryption", ...WORK_OPTIONS], `${path}.`);
  const { handler, schema, encryption, ...draining } = options;
  if (typeof handler !== "function") {
    throw invalidArgument(path, "must be a function, or have a handler that is one");
  }
  checkedSchema(schema, `${path}.schema`);
  checkDrainOptions({ ...draining, budget }, `${path}.`);
  if (encryption === undefined) return { ...options, encryption };
  if (typeof encryption !== "function") {
    throw invalidArgument(`${path}.encryption`, "must be a function of the environment");
  }
  return { ...options, encryption: requiredEncryption(encryption(env), `${path}.encryption()`) };
}

/** How long until a task falls due that is worth staying for, ms; undefined where none is. */
function untilDue({ ended, nextDueAt }: DrainReport, most: number): number | undefined {
  if (ended !== "empty" || nextDueAt === null) return undefined;
  // Where this function's clock is wrong, a drain finds nothing; the next cron finds the task.
  const due = nextDueAt - Date.now();
  return due <= most ? Math.max(due, 0) : undefined;
}

function tasksOf({ completed, requeued, rejected, handedBack, lost }: DrainReport): number {
  return completed + requeued + rejected + handedBack + lost;
}

function sum(first: DrainReport, then: DrainReport): DrainReport {
  return {
    completed: first.completed + then.completed,
    requeued: first.requeued + then.requeued,
    rejected: first.rejected + then.rejected,
    handedBack: first.handedBack + then.handedBack,
    lost: first.lost + then.lost,
    ended: then.ended,
    nextDueAt: then.nextDueAt,
  };
}

/** What a log says of an error: its name and message, cut. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "something that is no Error";
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : "";
  return cut(`${error.name}: ${error.message}${cause}`, 500);
}
