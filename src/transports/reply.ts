import { SluiceError } from "../errors.ts";
import type { Reply } from "../kernel/transport.ts";

/**
 * Checks that a client's reply is a {@link Reply}, at every level.
 * @throws {SluiceError} `unexpected_reply` if it is not, such as for an error inside an array
 */
export function toReply(value: unknown): Reply {
  if (isReply(value)) return value;
  throw new SluiceError("unexpected_reply", "Redis replied with a value that RESP2 does not have");
}

function isReply(value: unknown): value is Reply {
  return (
    typeof value === "string" ||
    typeof value === "number" ||
    value === null ||
    (Array.isArray(value) && value.every(isReply))
  );
}
