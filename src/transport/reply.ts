import { SluiceError } from "../errors.ts";
import type { Reply } from "../queue/transport.ts";

/**
 * A client's reply as a {@link Reply}, checked all the way down.
 * @throws {SluiceError} `unexpected_reply` where it is none, such as an error inside an array
 */
export function toReply(value: unknown): Reply {
  if (value === null || typeof value === "string" || typeof value === "number") return value;
  if (Array.isArray(value)) return value.map(toReply);
  throw new SluiceError("unexpected_reply", "Redis answered with a reply that is not of RESP2");
}
