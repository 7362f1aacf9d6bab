import type { Waker } from "../features/waking/index.ts";
import type { Transport } from "../kernel/transport.ts";

/** A part of a deployment or an app whose queues need the linked edition of the scripts. */
export interface LinkedPart {
  /**
   * Makes a transport with that edition. Without a waker it returns the same one for the same transport.
   * @param wake that of flows wakes consumers for tasks that begin because others have ended
   */
  readonly linked: (transport: Transport, wake?: Waker) => Transport;
}

/** The parts that bring the linked edition. */
export interface LinkedParts {
  readonly order?: LinkedPart | undefined;
  readonly flows?: LinkedPart | undefined;
}

/** The transport of a deployment or an app: with the linked edition, if one of its parts needs it. */
export function linkedIfNeeded({ order, flows }: LinkedParts, transport: Transport, wake?: Waker): Transport {
  return (flows ?? order)?.linked(transport, wake) ?? transport;
}
