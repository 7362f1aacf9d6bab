import { CheckedWaker, type Waker } from "../features/waking/index.ts";
import type { Transport } from "../kernel/transport.ts";

/** A part of a deployment or an app whose queues need the linked edition of the scripts. */
export interface LinkedPart {
  /** Makes a transport with that edition. It returns the same one for the same transport. */
  readonly linked: (transport: Transport) => Transport;
  /** The same; it also wakes consumers for tasks of flows that begin because others have ended. */
  readonly linkedWaking?: ((transport: Transport, waker: CheckedWaker) => Transport) | undefined;
}

/** The parts that bring the linked edition. */
export interface LinkedParts {
  readonly order?: LinkedPart | undefined;
  readonly flows?: LinkedPart | undefined;
}

/**
 * The transport of a deployment or an app: with the linked edition, if one of its parts needs it.
 * @param wake wakes consumers for tasks of flows. @default they wait for a sweep or another wake
 */
export function linkedIfNeeded(
  { order, flows }: LinkedParts,
  transport: Transport,
  wake?: Waker,
): Transport {
  if (flows?.linkedWaking && wake) return flows.linkedWaking(transport, new CheckedWaker(wake));
  return (order ?? flows)?.linked(transport) ?? transport;
}
