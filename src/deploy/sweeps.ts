import type { WaitUntil } from "./declared/tools.ts";
import { plainSweep } from "../sweep/sweep.ts";
import { sweepPartsWith } from "../open/swept-part.ts";
import { opening } from "../open/opening.ts";
import { placesOf } from "../open/sweep-with.ts";
import type { Transport } from "../kernel/transport.ts";
import { sweepFailed, swept } from "../log/lines.ts";
import type { Declarations } from "./declarations.ts";
import type { Drains } from "./drains.ts";
import { LEAST_TIME, type ServiceContext } from "./invocation.ts";
import { withWaitUntil } from "./pending-work.ts";

/** Requests of an invocation that are kept for alert rules and for objects without tasks. */
const AFTER_SWEEP_REQUESTS = 10;

/** How long a pass of the alert rules may take, ms. */
const ALERTS_TIME = 20_000;

/** The sweep's share of an invocation's time, ms. The rest is for the consumers. */
export function sweepBudget(budget: number): number {
  return Math.floor(budget * 0.4);
}

/** The sweeps of a deployment: what comes before them and after them. */
export class Sweeps<Env extends object> {
  readonly #context: ServiceContext<Env>;
  readonly #declared: Declarations;

  constructor(context: ServiceContext<Env>, declared: Declarations) {
    this.#context = context;
    this.#declared = declared;
  }

  /** Applies what has changed in the declared queues. Never throws. */
  applyDeclared(drains: Drains): Promise<void> {
    const { setup, ofQueues } = this.#context;
    const transport = drains.counted(setup.transport);
    return this.#declared.apply({
      open: opening({ ...ofQueues, transport }),
      transport,
      prefix: setup.config.prefix,
      signal: this.#closing,
      log: setup.log,
    });
  }

  /** Keeps requests of the invocation for what follows a sweep of all queues. Returns what gives them back. */
  keepForAfter({ requests }: Drains): (() => void) | undefined {
    const { alerts, offload } = this.#context.setup.options;
    return alerts || offload ? requests?.reserve(AFTER_SWEEP_REQUESTS) : undefined;
  }

  /**
   * Sweeps, and logs a line if that moved a task or failed for a queue.
   * @param queue the only one to sweep. @default every queue
   * @param end of the invocation, on the clock of `performance.now()`
   */
  async run(
    queue: string | undefined,
    end: number,
    waitUntil: WaitUntil | undefined,
    drains: Drains,
  ): Promise<void> {
    const { setup, toolsIn, wakerIn } = this.#context;
    const timeLeft = () => Math.max(0, end - performance.now());
    const giveBack = queue === undefined ? this.keepForAfter(drains) : undefined;
    const waker = wakerIn({ timeLeft, drains });
    const report = await withWaitUntil(waitUntil, end, async (keepRunning) => {
      const invocation = { keepRunning, waitUntil: keepRunning, timeLeft, drains, isCounted: true };
      const options = {
        queue,
        budget: sweepBudget(Math.max(timeLeft(), LEAST_TIME)),
        prefix: setup.config.prefix,
        wake: waker && { ...waker, waitUntil },
        onDeadLetter: toolsIn(invocation).onDeadLetter,
        signal: this.#closing,
      };
      const { schedules, flows, parts } = setup.parts;
      const swept = sweepPartsWith(schedules, flows ? [flows, ...parts] : parts);
      const done = await plainSweep(drains.counted(setup.transport), options, swept);
      giveBack?.();
      if (queue === undefined) keepRunning(this.after(timeLeft(), drains));
      return done;
    });
    const { scheduled, promoted, reclaimed, rejected, expired, failed } = report;
    if (failed.length > 0) setup.log(sweepFailed(report));
    else if (scheduled + reclaimed + rejected > 0) setup.log(swept(report, false));
    else if (promoted + expired > 0) setup.log(swept(report, true));
  }

  /**
   * What follows a sweep of all queues: alert rules, and the removal of objects without tasks. Never throws.
   * @param timeLeft of the invocation, ms
   */
  after(timeLeft: number, drains: Drains): Promise<void> {
    const { setup, inOwnContext } = this.#context;
    const transport = drains.counted(setup.transport);
    return inOwnContext(() => this.#after(timeLeft, transport));
  }

  async #after(timeLeft: number, transport: Transport): Promise<void> {
    const { setup } = this.#context;
    const { alerts, stores, log } = setup;
    const pass = { transport, prefix: setup.config.prefix, signal: this.#closing };
    const until = performance.now() + timeLeft;
    const budget = Math.max(LEAST_TIME, Math.min(timeLeft, ALERTS_TIME));
    await Promise.all([
      alerts?.evaluate({ ...pass, budget, log }),
      stores.removeOrphans(this.#declared.all, { ...pass, placesOf, until }, log),
    ]);
  }

  /** Aborts when the process begins to close. */
  get #closing(): AbortSignal | undefined {
    return this.#context.setup.platform.drains?.closing;
  }
}
