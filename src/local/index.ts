export { EmbeddedDatabase, type EmbeddedDatabaseOptions } from "../embedded/database.ts";
export { type Fault, Faults, type FaultHandle } from "./gateway/faults.ts";
export { type Gateway, type GatewayOptions, startGateway } from "./gateway/gateway.ts";
export { RedisUnavailable } from "./gateway/redis-client.ts";
export type { StrictKeys } from "./gateway/scripts.ts";
export { dollars, type Usage } from "./gateway/usage.ts";
