/** Why there is no response to a request. */
export type DeliveryFault =
  /** The URL, or an address of its host, is not allowed. */
  | "refused"
  /** The host has no address, or no connection to it came about, or it broke. */
  | "unreachable"
  /** No response within the time. */
  | "timeout"
  /** What came back is no response of HTTP, or has too many headers. */
  | "invalid_response";

/** A request without a response. */
export class DeliveryError extends Error {
  override readonly name = "DeliveryError";
  readonly code: DeliveryFault;

  constructor(code: DeliveryFault, message: string) {
    super(message);
    this.code = code;
  }
}
