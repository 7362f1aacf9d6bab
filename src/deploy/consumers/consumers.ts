import { isEarly } from "../../drain/drain-counts.ts";
import { drain } from "../../drain/drain.ts";
import { type DrainReport, type Task } from "../../drain/types.ts";
import { opening } from "../../open/opening.ts";
import { timeUntil } from "../../kernel/clock.ts";
import type { QueueDefinition } from "../../open/definition.ts";
import type { HandOver, Waker } from "../../features/waking/index.ts";
import type { Taken } from "../../kernel/store.ts";
import { drainBegan, drained, requestsUsed, wakeFailed } from "../../log/lines.ts";
import { sleep } from "../../sleep.ts";
import { maybeOfFlow } from "./maybe-of-flow.ts";
import { addingFor, handBack } from "./hand-over.ts";
import { otherConsumers } from "./other-consumers.ts";
import type { ConsumerHandler } from "../consumer.ts";
import type { Setup } from "../setup.ts";
import type { ConsumerHere } from "./checked-consumers.ts";
import { Drains, sum } from "../drains.ts";
import { type InvocationTools, LEAST_TIME, type ServiceContext } from "../invocation.ts";
import { withWaitUntil } from "../pending-work.ts";

/** The consumers of a deployment. */
export class Consumers<Env extends object> {
  readonly #all = new Map<string, ConsumerHere<Env>>();
  readonly #context: ServiceContext<Env>;
  readonly #setup: Setup<Env>;
  /** The drains of a process. */
  readonly #drains = new Drains();
  /** Whether a line on the default limit was logged. */
  #saidLimit = false;

  /** @throws {SluiceError} `invalid_argument` for an invalid encryption; the path names the consumer */
  constructor(context: ServiceContext<Env>) {
    this.#context = context;
    this.#setup = context.setup;
    const { consumers, env } = context.setup;
    for (const [name, { queueIn, ...consumer }] of consumers) {
      this.#all.set(name, { ...consumer, queue: queueIn(env) });
    }
  }

  get none(): boolean {
    return this.#all.size === 0;
  }

  has(queue: string): boolean {
    return this.#all.has(queue);
  }

  /** The queues that have a consumer here. */
  get queues(): Iterable<string> {
    return this.#all.keys();
  }

  /** Those of them whose consumer was given no name of its own. */
  get unnamed(): string[] {
    return [...this.#all].flatMap(([queue, { work }]) => (work.worker === undefined ? queue : []));
  }

  /** Whether the consumer of a queue works in this process, and has no free handler. It looks for tasks when it has one. */
  isBusy(queue: string): boolean {
    // It makes the drain pull, and what that calls must not run in the context of the caller's request.
    return this.#context.inOwnContext(() => this.#drains.isBusy(queue));
  }

  /** Whether the consumer of a queue works in this process. It then looks for tasks again. */
  pullsAgain(queue: string): boolean {
    return this.#drains.pullAgain(queue);
  }

  /** The queue as its consumer sets it; undefined if it has none here. */
  definitionOf(name: string): QueueDefinition | undefined {
    return this.#all.get(name)?.queue;
  }

  /**
   * Drains a queue. A process, or an invocation, runs one drain per queue at a time, so that `concurrency` is the
   * limit of the process, or of the invocation.
   * @param time how long it may take, ms
   * @param drains those of the invocation. @default no other drain runs in the invocation
   */
  work(name: string, time: number, drains = this.#context.newDrains()): Promise<DrainReport> {
    drains.shareTime();
    return this.#context.inOwnContext(() => this.#work(name, time, drains));
  }

  /**
   * What hands new tasks to the consumer of a queue, which begins them at once; see {@link addingFor}.
   * @param count how many tasks
   * @param time how long it may take, ms
   * @param drains those of the invocation. @default no other drain runs in the invocation
   */
  handOver(
    name: string,
    count: number,
    time: () => number,
    drains = this.#context.newDrains(),
  ): HandOver | undefined {
    const own = this.#setup.isProcess ? this.#drains : drains;
    const consumer = this.#all.get(name) as ConsumerHere<Env>;
    const addPlainly = addingFor(name, count, consumer, this.#setup, own);
    const begin = async (taken: Taken) => {
      // If another call has started it meanwhile, it may have no free handler. It looks for them when it has one.
      if (own.isRunning(name)) await handBack(name, [taken], this.#context, drains);
      else own.handedOver(name).add(taken);
      await this.work(name, time(), drains);
    };
    return addPlainly && { addPlainly, begin };
  }

  /** Calls a handler. In stacks its name separates the frames of the handler from those of the library: `ownFrames`. */
  async callSluiceHandler(handler: ConsumerHandler<Env, never>, ...call: Parameters<typeof handler>) {
    return await handler(...call);
  }

  #work(name: string, time: number, drains: Drains): Promise<DrainReport> {
    const { isProcess, budget } = this.#setup;
    if (isProcess) return this.#drains.run(name, this.#processDrain(name));
    const end = performance.now() + Math.min(time, budget);
    const timeLeft = () => Math.max(0, end - performance.now());
    return withWaitUntil(undefined, end, async (keepRunning) => {
      const invocation = { keepRunning, waitUntil: keepRunning, timeLeft, drains };
      const around = this.#context.toolsIn(invocation);
      return drains.run(name, () => this.#drainAndIdle(name, timeLeft, around, drains));
    });
  }

  #processDrain(name: string): () => Promise<DrainReport> {
    const { budget, platform } = this.#setup;
    const { waitUntil = () => {} } = platform;
    const around = this.#context.toolsIn({ keepRunning: waitUntil, waitUntil, timeLeft: () => budget });
    return async () => {
      let report = await this.#drain(name, budget, around, this.#drains);
      while (isEarly(report.ended)) {
        report = sum(report, await this.#drain(name, budget, around, this.#drains));
      }
      if (report.ended !== "aborted") await this.#setAlarm(name, report);
      return report;
    };
  }

  /** Drains a queue, also of the tasks that fall due while an invocation waits for them. */
  async #drainAndIdle(
    name: string,
    timeLeft: () => number,
    around: InvocationTools<Env>,
    drains: Drains,
  ): Promise<DrainReport> {
    let report = await this.#drain(name, timeLeft(), around, drains);
    for (;;) {
      const due = this.#untilDue(report, Math.min(this.#setup.maxIdle, timeLeft() - 2 * LEAST_TIME));
      if (due === undefined) break;
      const woken = new AbortController();
      drains.onWake(name, () => {
        woken.abort();
        return true;
      });
      // A wake may have come when the drain had just found the queue empty.
      if (!drains.isWokenAgain(name)) await sleep(due, woken.signal);
      const next = await this.#drain(name, timeLeft(), around, drains);
      report = sum(report, next);
      if (tasksOf(next) === 0) break;
    }
    await this.#setAlarm(name, report);
    return report;
  }

  /** Time until the next task is due, ms; undefined if there is none within `most`. */
  #untilDue({ ended, nextDueAt }: DrainReport, most: number): number | undefined {
    if ((ended !== "empty" && ended !== "paused") || nextDueAt === null) return undefined;
    // If the time of Redis is not known well, the drain finds nothing, and the next cron finds the task.
    const due = timeUntil(this.#setup.transport, nextDueAt);
    return due <= most ? Math.max(due, 0) : undefined;
  }

  /** Sets an alarm for the queue's next task; also if tasks are left that no other invocation is woken for. */
  async #setAlarm(name: string, { ended, nextDueAt }: DrainReport): Promise<void> {
    const { alarms, transport, remote, log } = this.#setup;
    if (!alarms || nextDueAt === null) return;
    if (ended === "aborted" || (isEarly(ended) && (remote.byUrl || remote.byName))) return;
    try {
      await alarms.set("wake", name, timeUntil(transport, nextDueAt));
    } catch (error) {
      log(wakeFailed(name, error));
    }
  }

  /** Wakes consumers elsewhere, and sets alarms for tasks that a running drain requeues. */
  #wakerOfDrain(remote: Waker | undefined): Waker | undefined {
    const { alarms, transport, isProcess, maxIdle, log } = this.#setup;
    if (!alarms) return remote;
    const wakeAt = (queue: string, at: number) => {
      const after = timeUntil(transport, at);
      // What is due before is what the invocation waits for.
      return isProcess || after > maxIdle ? alarms.set("wake", queue, after) : undefined;
    };
    const onError = (error: unknown, queue: string) => log(wakeFailed(queue, error));
    return { wake: () => {}, ...remote, wakeAt, onError };
  }

  /** Logs once how to raise the platform's default limit. */
  #sayLimit(): void {
    const { options, requests, log } = this.#setup;
    if (options.requests !== undefined || this.#saidLimit) return;
    this.#saidLimit = true;
    log(requestsUsed(requests));
  }

  /** One drain. If it ends before the work does, it wakes another invocation or process. */
  async #drain(
    name: string,
    time: number,
    { tools, wake, onDeadLetter, onFailure }: InvocationTools<Env>,
    drains: Drains,
  ): Promise<DrainReport> {
    const { env, transport, platform, log, isProcess, hooks } = this.#setup;
    const { handler, work, queue: definition } = this.#all.get(name) as ConsumerHere<Env>;
    const requests = isProcess ? this.#setup.requests : drains.requests;
    const { ofQueues } = this.#context;
    // A drain sends whole batches, which wait for no call of others.
    const open = opening({ ...ofQueues, coalesce: "turn" });
    const queueWith = (wake: Waker | undefined, counted = {}) =>
      open(definition, { wake, ...counted }).queue();
    const others = otherConsumers(name, this.#setup, drains, (wake) =>
      queueWith(wake, { transport: drains.counted(transport) }),
    );
    const { layer } = drains.handedOver(name);
    const { parts } = this.#setup;
    const queue = queueWith(this.#wakerOfDrain(others.waker), {
      onDeadLetter,
      layer,
      transport: parts.flows?.linked(transport, wake),
    });
    const handle = (task: Task<never>) =>
      this.callSluiceHandler(handler, maybeOfFlow(task, parts.flows), env, tools);
    const budget = Math.max(Math.floor(time), LEAST_TIME);
    const listen = (pullNow: () => boolean) => drains.onWake(name, pullNow);
    const ofFlows = parts.flows?.flowSource(queue, (other) => open(other).queue());
    const source = others.sharing<never>(ofFlows ?? queue);
    // A failed task also has the requests of the hooks.
    const requestsPerTask = (work.requestsPerTask ?? 1) + hooks;
    const limits = {
      budget,
      listen,
      onFailure,
      ...(requests !== undefined && { requests, requestsPerTask }),
    };
    log(drainBegan(name));
    const run = async () => {
      try {
        return await drain(source, handle, { ...platform.drains, ...work, ...limits });
      } finally {
        others.release?.();
        // What it has not begun goes back before another drain may run.
        await handBack(name, drains.handedOver(name).takeRest(), this.#context, drains);
      }
    };
    // It works on tasks of many traces, so it belongs to none, such as that of the request that woke it.
    const report = await (ofQueues.tracing?.detached(run) ?? run());
    if (tasksOf(report) > 0) log(drained(name, report));
    if (report.ended === "requests") this.#sayLimit();
    if (isEarly(report.ended) || report.ended === "aborted") await others.takeOver();
    return report;
  }
}

function tasksOf({ completed, requeued, rejected, handedBack, lost }: DrainReport): number {
  return completed + requeued + rejected + handedBack + lost;
}
