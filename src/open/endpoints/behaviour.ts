/** How endpoints behave, and what their methods take and return. */
import { invalidArgument } from "../../errors.ts";
import { checkedCircuit, type CircuitOptions } from "../../features/endpoints/index.ts";
import { checkPolicy, type UrlPolicy } from "../../features/push/index.ts";
import type { Duration } from "../../kernel/options/duration.ts";
import type { RequestOptions } from "../../kernel/options/types.ts";
import { onlyOptions } from "../../kernel/options/validation.ts";
import type { QueueOptions } from "../options.ts";
import type { EndpointInfo } from "./endpoint-info.ts";

/** The queue of deliveries, unless another one is given. */
export const DELIVERIES = "deliveries";

/** How endpoints treat failures. */
export interface EndpointsBehaviour {
  /** Which URLs endpoints may have. `push` checks them again, by its own options. @default any public host */
  readonly policy?: UrlPolicy | undefined;
  /** When deliveries to an endpoint pause because they fail. */
  readonly circuit?: CircuitOptions | undefined;
  /** For how long all deliveries must have failed to disable an endpoint; null: it never is. @default "5d" */
  readonly disableAfter?: Duration | null | undefined;
  /**
   * Called with an endpoint that was disabled because its deliveries failed, or because it asked for it. In rare cases
   * it is called twice. If it fails, a later sweep calls it again.
   * @default none
   */
  readonly onEndpointDisabled?: ((endpoint: EndpointInfo) => unknown) | undefined;
}

/** Options of {@link Endpoints}: those of the queue of deliveries, and their own. */
export interface EndpointsOptions extends Omit<QueueOptions, "schema">, EndpointsBehaviour {}

export const BEHAVIOUR = ["policy", "circuit", "disableAfter", "onEndpointDisabled"] as const;

/** An endpoint with its new secret, which is shown this once. */
export interface EndpointWithSecret {
  readonly endpoint: EndpointInfo;
  readonly secret: string;
}

export interface EndpointPage {
  /** By their ids. */
  readonly endpoints: readonly EndpointInfo[];
  /** For the next page; null after the last. */
  readonly cursor: string | null;
}

export interface RotateOptions extends RequestOptions {
  /** The new secret. @default a generated one */
  readonly secret?: string | undefined;
  /** For how long the secret before signs too. @default "24h" */
  readonly keep?: Duration | undefined;
}

/** @throws {SluiceError} `invalid_argument` */
export function checkBehaviour(given: EndpointsBehaviour): void {
  onlyOptions(given, BEHAVIOUR);
  checkedCircuit(given.circuit, given.disableAfter);
  if (given.policy) checkPolicy(given.policy);
  if (given.onEndpointDisabled !== undefined && typeof given.onEndpointDisabled !== "function")
    throw invalidArgument("onEndpointDisabled", "must be a function");
}
