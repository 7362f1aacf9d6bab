import { abortedBySignal } from "../../errors.ts";
import { onlyOptions } from "../core/validation.ts";
import type { DequeueOptions, RequestOptions, Settlement } from "../core/types.ts";
import type { SendOptions, Transport } from "../redis/transport.ts";
import type { LeasedTask } from "./leased-task.ts";

/** How long a request that may lease tasks goes on after an abort, and how long handing them back may take, ms. */
export const MOST_AFTER_ABORT = 5_000;

/** What an aborted dequeue has leased: the receipts of the tasks. */
type Leased = readonly Pick<LeasedTask, "receipt">[];

type Settle = (settlements: readonly Settlement[], options: RequestOptions) => Promise<unknown>;

/**
 * The requests of one dequeue that may lease tasks. If the caller aborts the dequeue, those that were sent go on for
 * up to five seconds, and what they have leased is handed back unstarted. If a request fails, or its reply comes
 * later, the leases expire.
 *
 * A dequeue with a token or an idempotency key is not handed back: its caller can send it again, and then gets the
 * tasks. If another request handed them back meanwhile, that caller would lose them.
 */
export class LeasingRequests {
  /** Those of the dequeue. */
  readonly options: DequeueOptions;
  /** The signal of a caller whose tasks are handed back if it aborts. */
  readonly #caller: AbortSignal | undefined;
  readonly #settle: Settle;
  /** Whether a request was sent that may lease tasks. */
  isSent = false;

  /** @throws {SluiceError} `invalid_argument` if the options are no object, or the signal is invalid */
  constructor(options: DequeueOptions, settle: Settle) {
    onlyOptions(options, Object.keys(options ?? {}));
    const { signal, token, idempotencyKey } = options;
    this.options = options;
    this.#caller = token === undefined && idempotencyKey === undefined ? signal : undefined;
    this.#settle = settle;
  }

  /** Those of a request which may lease tasks for several dequeues. The signal aborts when all have aborted. */
  shared(signal: AbortSignal | undefined): LeasingRequests {
    return new LeasingRequests({ signal }, this.#settle);
  }

  /** Whether the tasks that a reply has leased must be handed back, because no one waits for them. */
  get isAbandoned(): boolean {
    return this.#caller?.aborted === true;
  }

  /**
   * Runs the dequeue. If its caller aborts it meanwhile, this throws at once, and the tasks that it returns
   * later are handed back.
   * @param tasksOf the tasks in what the dequeue returns
   * @throws {SluiceError} `aborted`, and what the dequeue throws
   */
  run<Result>(dequeue: () => Promise<Result>, tasksOf: (result: Result) => Leased): Promise<Result> {
    const caller = this.#caller;
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

  /** A transport for requests that may lease tasks. */
  over(transport: Transport): Pick<Transport, "cluster" | "send"> {
    const send = (commands: Parameters<Transport["send"]>[0]) =>
      this.#request((options) => transport.send(commands, options));
    return { cluster: transport.cluster, send };
  }

  async #request<Reply>(send: (options: SendOptions) => Promise<Reply>): Promise<Reply> {
    const caller = this.#caller;
    if (!caller) return send({ signal: this.options.signal });
    if (caller.aborted) throw abortedBySignal(this.isSent);
    this.isSent = true;
    const end = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onAbort = () => (timer = setTimeout(() => end.abort(), MOST_AFTER_ABORT));
    caller.addEventListener("abort", onAbort);
    try {
      return await send({ signal: end.signal });
    } finally {
      caller.removeEventListener("abort", onAbort);
      clearTimeout(timer);
    }
  }

  /** Hands tasks back unstarted: each to its place, with its attempt refunded. */
  handBack(tasks: Leased): void {
    if (tasks.length === 0) return;
    const settlements = tasks.map(({ receipt }) => {
      return { receipt, outcome: "requeue" as const, unstarted: true };
    });
    this.#settle(settlements, { signal: AbortSignal.timeout(MOST_AFTER_ABORT) }).catch(() => {});
  }
}
