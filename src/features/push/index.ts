/** Deliveries to URLs. */
export { DeliveryError, type DeliveryFault } from "./failure.ts";
export { checkedTarget, checkPolicy } from "./policy.ts";
export type { HeaderRecord, PushOptions, PushReport, QueueOfPush } from "./options.ts";
export { push, type PushHandler, type PushResult } from "./push.ts";
export { isOfConnection } from "./request.ts";
export { checkRuntime, sendTo } from "./send.ts";
export type {
  Delivered,
  DeliveryOutcome,
  Endpoint,
  EndpointSource,
  OutgoingRequest,
  PushContext,
  PushTask,
  PushTools,
  UrlPolicy,
} from "./types.ts";
