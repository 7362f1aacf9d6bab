/** The entry of endpoints: all that programs use, and the part that turns them on in a deployment or an app. */
import { endpointsPart, type EndpointsPart, type EndpointsPartOptions } from "./part.ts";

export type { CircuitOptions, DisabledReason } from "../../features/endpoints/index.ts";
export {
  type EndpointInfo,
  type EndpointOptions,
  type EndpointPage,
  Endpoints,
  type EndpointsOptions,
  type EndpointWithSecret,
  type EventOfEndpoints,
  type NewEndpoint,
  type Replayed,
  type ReplayOptions,
  type RotateOptions,
  type SecretInfo,
  type Sent,
} from "../../open/endpoints/index.ts";
export type { EndpointsPart, EndpointsPartOptions, EndpointTools } from "./part.ts";

/**
 * The endpoints of a deployment, for its option `endpoints`, and for `push`.
 * @throws {SluiceError} `invalid_argument`
 * @example
 * const deliveries = defineQueue("deliveries");
 * const endpoints = defineEndpoints({ queue: deliveries, onEndpointDisabled: ({ id }) => report(id) });
 * export default sluice({ endpoints, consumers: [deliveries.consumer(push({ endpoints }))] });
 */
export const defineEndpoints = (options: EndpointsPartOptions = {}): EndpointsPart =>
  endpointsPart(options, (part) => async () => (await import("../routes/endpoints.ts")).endpointRoutes(part));

/** Endpoints whose deliveries are tasks of the queue `deliveries`. */
export const endpoints: EndpointsPart = defineEndpoints();
