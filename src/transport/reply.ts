import { SluiceError } from "../errors.ts";
import type { Reply } from "../queue/redis/transport.ts";

/**
 * A client's reply as a {@link Reply}, checked all the way down.
 * @throws {SluiceError} `unexpected_reply` where it is none, such as an error inside an array
 */
export function toReply(value: unknown): Reply {
  if (isReply(value)) return value;
  throw new SluiceError("unexpected_reply", "Redis answered with a reply that is not of RESP2");
}

function isReply(value: unknown): value is Reply {
  return (
    typeof value === "string" ||
    typeof value === "number" ||
    value === null ||
    (Array.isArray(value) && value.every(isReply))
  );
}
