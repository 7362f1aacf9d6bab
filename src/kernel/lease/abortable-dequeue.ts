import { abortedBySignal } from "../../errors.ts";
import { optionsObject } from "../options/validation.ts";
import type { DequeueOptions, RequestOptions, Settlement } from "../options/types.ts";
import type { LeasedTask } from "./leased-task.ts";

/** How long a request that may lease tasks goes on after an abort, and how long handing them back may take, ms. */
export const MOST_AFTER_ABORT = 5_000;

/** What an aborted dequeue has leased: the receipts of the tasks. */
type Leased = readonly Pick<LeasedTask, "receipt">[];

type Settle = (settlements: readonly Settlement[], options: RequestOptions) => Promise<unknown>;

/**
 * A dequeue. If its caller aborts it, what it leases is handed back unstarted.
 *
 * A dequeue with a token or an idempotency key is not handed back: its caller can send it again, and then gets the
 * tasks. If another request handed them back meanwhile, that caller would lose them.
 */
export class AbortableDequeue {
  /** The options of the dequeue. */
  readonly options: DequeueOptions;
  /** The signal of a caller whose tasks are handed back if it aborts. */
  protected readonly caller: AbortSignal | undefined;
  protected readonly settle: Settle;
  /** Whether a request was sent that may lease tasks. */
  isSent = false;

  /** @throws {SluiceError} `invalid_argument` if the options are no object, or the signal is invalid */
  constructor(options: DequeueOptions, settle: Settle) {
    optionsObject(options);
    const { signal, token, idempotencyKey } = options;
    this.options = options;
    this.caller = token === undefined && idempotencyKey === undefined ? signal : undefined;
    this.settle = settle;
  }

  /** Whether the tasks that a reply has leased must be handed back, because no one waits for them. */
  get isAbandoned(): boolean {
    return this.caller?.aborted === true;
  }

  /**
   * Runs the dequeue. If its caller aborts it meanwhile, this throws at once, and the tasks that it returns
   * later are handed back.
   * @param tasksOf the tasks in what the dequeue returns
   * @throws {SluiceError} `aborted`, and what the dequeue throws
   */
  run<Result>(dequeue: () => Promise<Result>, tasksOf: (result: Result) => Leased): Promise<Result> {
    const caller = this.caller;
    if (!caller) return dequeue();
    return new Promise((resolve, reject) => {
      let hasLeft = false;
      const leave = () => {
        hasLeft = true;
        reject(abortedBySignal(this.isSent));
      };
      caller.addEventListener("abort", leave);
      dequeue()
        .then((result) => (hasLeft ? this.handBack(tasksOf(result)) : resolve(result)), reject)
        .finally(() => caller.removeEventListener("abort", leave));
    });
  }

  /** Hands tasks back unstarted: each to its place, with its attempt refunded. */
  handBack(tasks: Leased): void {
    if (tasks.length === 0) return;
    const settlements = tasks.map(({ receipt }) => {
      return { receipt, outcome: "requeue" as const, unstarted: true };
    });
    this.settle(settlements, { signal: AbortSignal.timeout(MOST_AFTER_ABORT) }).catch(() => {});
  }
}
