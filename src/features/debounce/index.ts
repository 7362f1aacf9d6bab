import { withDebounce } from "./with-debounce.ts";

export { KEY_OPTIONS } from "./key-options.ts";
export type {
  Debounce,
  ItemOf,
  KeyedEnqueued,
  KeyedEnqueueOptions,
  KeyedOutcome,
  KeyOptions,
  PayloadFor,
  Singleton,
  Throttle,
} from "./types.ts";
export { keyedOutcomes } from "./types.ts";
export { type KeyedCalls, type QueueOfClient, withDebounce } from "./with-debounce.ts";

/** The code of enqueues with `debounce`, `throttle`, `singleton` and `replace`, to turn them on. */
export interface DebouncePart {
  readonly withDebounce: typeof withDebounce;
}

/**
 * Enqueues with `debounce`, `throttle`, `singleton` and `replace` over HTTP, for the option `debounce` of a deployment or
 * an app. A program that has its own queues gives them to `withDebounce`.
 * @example export default sluice({ debounce });
 */
export const debounce: DebouncePart = { withDebounce };
