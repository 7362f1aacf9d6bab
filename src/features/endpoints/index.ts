/** A registry of endpoints, and what becomes of deliveries to them. */
export { type CircuitOptions, checkedCircuit } from "./circuit-options.ts";
export {
  type CircuitState,
  DISABLE,
  type DisabledReason,
  ENABLE,
  type EndpointRecord,
  type EndOfSecret,
  type Sealed,
} from "./endpoint-record.ts";
export { type Change, changeEndpoint, noteIsApplied } from "./put-endpoint.ts";
export { readOne, readRegistry, type Registered, timeOf, type Where } from "./registry.ts";
export { Reports } from "./reports.ts";
