import { SluiceError } from "../../errors.ts";
import type { CommandOutcome, Reply } from "./transport.ts";

/**
 * The reply to one command of a request.
 * @throws the error that the command met
 */
export function replyAt(outcomes: readonly CommandOutcome[], index: number): Reply {
  const outcome = outcomes[index];
  if (!outcome) throw new SluiceError("unexpected_reply", "the transport gave fewer replies than commands");
  if ("error" in outcome) throw outcome.error;
  return outcome.reply;
}

/** The reply to the last command of a request. */
export function lastReply(outcomes: readonly CommandOutcome[]): Reply {
  return replyAt(outcomes, outcomes.length - 1);
}
