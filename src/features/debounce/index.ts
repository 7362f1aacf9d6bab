export { KEY_OPTIONS } from "./key-options.ts";
export type {
  Debounce,
  KeyedEnqueued,
  KeyedEnqueueOptions,
  KeyedOutcome,
  KeyOptions,
  Singleton,
  Throttle,
} from "./types.ts";
export { keyedOutcomes } from "./types.ts";
export { type ItemOf, type KeyedCalls, withDebounce } from "./with-debounce.ts";
