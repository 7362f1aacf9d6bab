import { SluiceError } from "../../errors.ts";
import type { CommandOutcome, Reply } from "./transport.ts";

/**
 * The reply to one command of a request.
 * @throws {SluiceError} the error of the command
 */
export function replyAt(outcomes: readonly CommandOutcome[], index: number): Reply {
  const outcome = outcomes[index];
  if (!outcome) throw new SluiceError("unexpected_reply", "the transport returned too few replies");
  if ("error" in outcome) throw outcome.error;
  return outcome.reply;
}

/** The reply to the last command of a request. */
export function lastReply(outcomes: readonly CommandOutcome[]): Reply {
  return replyAt(outcomes, outcomes.length - 1);
}
