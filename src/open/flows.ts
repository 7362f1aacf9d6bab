import { linked } from "../kernel/linked/linked-transport.ts";
import {
  cancelWholeFlow,
  type FlowCancelled,
  type FlowRedriven,
  type FlowReport,
  redriveWholeFlow,
  reportFlow,
} from "../features/flows/index.ts";
import { invalidArgument } from "../errors.ts";
import type { RequestOptions } from "../kernel/options/types.ts";
import { onlyOptions, REQUEST_OPTIONS } from "../kernel/options/validation.ts";
import type { Adds } from "../kernel/store.ts";
import { operatedStore } from "./operated-store.ts";
import { opened, type QueueBaseOptions } from "./options.ts";

/** Options of {@link Flows}. */
export type FlowsOptions = Pick<QueueBaseOptions, "transport" | "prefix" | "wake" | "now">;

const OPTIONS = ["transport", "prefix", "wake", "now"] as const;

const FLOW = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}@[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$/;

/**
 * Operates flows.
 * @example
 * const flows = new Flows({ transport: upstash(env) });
 * const report = await flows.get(id);
 */
export class Flows {
  readonly #open: (queue: string) => Adds;

  /** @throws {SluiceError} `invalid_argument` */
  constructor(given: FlowsOptions) {
    onlyOptions(given, OPTIONS);
    const stores = new Map<string, Adds>();
    const options = { ...given, transport: linked(given.transport) };
    this.#open = (queue) => {
      const store = stores.get(queue) ?? operatedStore(opened(queue, options));
      stores.set(queue, store);
      return store;
    };
  }

  /**
   * Reads what has become of a flow: the state of each task, and what it waits for. Some three requests, and one more for
   * each 8,000 tasks.
   * @param id `<name>@<queue>`, as `flow` returns it
   * @returns null if the flow is not known, or no longer
   * @throws {SluiceError}
   */
  async get(id: string, options: RequestOptions = {}): Promise<FlowReport | null> {
    return reportFlow(this.#open, flowId(id), checked(options));
  }

  /**
   * Cancels all tasks of a flow that have not ended, the last ones first. Tasks that work are asked to stop. If it fails on
   * the way, a sweep continues.
   * @throws {SluiceError}
   */
  async cancel(id: string, options: RequestOptions = {}): Promise<FlowCancelled> {
    return cancelWholeFlow(this.#open, flowId(id), checked(options));
  }

  /**
   * Redrives all tasks of a flow that failed. What was rejected because of them is blocked again. Tasks that were cancelled stay
   * so, and those that ran after the failure. If it fails on the way, repeat it.
   * @throws {SluiceError}
   */
  async redrive(id: string, options: RequestOptions = {}): Promise<FlowRedriven> {
    return redriveWholeFlow(this.#open, flowId(id), checked(options));
  }
}

/** @throws {SluiceError} `invalid_argument` */
function flowId(id: unknown): string {
  if (typeof id !== "string" || !FLOW.test(id))
    throw invalidArgument("id", "must be the id of a flow: <name>@<queue>");
  return id;
}

function checked(options: RequestOptions): RequestOptions {
  onlyOptions(options, REQUEST_OPTIONS);
  return options;
}
