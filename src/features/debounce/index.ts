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
