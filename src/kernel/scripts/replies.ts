import { SluiceError } from "../../errors.ts";
import type { CommandOutcome, Reply } from "../transport.ts";

/**
 * The reply to one command of a request.
 * @throws {SluiceError} the error of the command
 */
export function replyAt(outcomes: readonly CommandOutcome[], index: number): Reply {
  return replyOf(outcomes[index]);
}

/**
 * The reply of a command.
 * @param outcome undefined if the transport has returned too few
 * @throws {SluiceError} the error of the command
 */
export function replyOf(outcome: CommandOutcome | undefined): Reply {
  if (!outcome) throw new SluiceError("unexpected_reply", "the transport returned too few replies");
  if ("error" in outcome) throw outcome.error;
  return outcome.reply;
}

/** The reply to the last command of a request. */
export function lastReply(outcomes: readonly CommandOutcome[]): Reply {
  return replyAt(outcomes, outcomes.length - 1);
}
