export { type EndpointInfo, type SecretInfo } from "./endpoint-info.ts";
export type { EndpointOptions, NewEndpoint } from "./endpoint-options.ts";
export {
  BEHAVIOUR,
  checkBehaviour,
  DELIVERIES,
  type EndpointPage,
  type EndpointsBehaviour,
  type EndpointsOptions,
  type EndpointWithSecret,
  type RotateOptions,
} from "./behaviour.ts";
export { Endpoints } from "./endpoints.ts";
export type { Replayed, ReplayOptions } from "./replay.ts";
export type { EventOfEndpoints, Sent } from "./send.ts";
