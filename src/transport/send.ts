import { SluiceError } from "../errors.ts";
import { Transient, type Timing, type Try } from "../retry.ts";
import {
  keyLocking as keyLockingLine,
  type Command,
  type CommandOutcome,
  type Reply,
  type ScriptCall,
  type Transport,
} from "../queue/redis/transport.ts";
import { isNoScript, isRefusedForNow, redisError, withhold, type Words } from "./redis-error.ts";
import { retryPolicy, retryRedis, type RetryOptions } from "./retry.ts";

/** What came back for one command; `lost` says why nothing did. */
export type Answer = { readonly reply: Reply } | { readonly redisError: string } | { readonly lost: string };

/**
 * Sends the commands once, in order, in one request: all that differs between transports.
 * @returns one answer per command, in order
 * @throws {Transient} when the request as a whole was lost; {@link SluiceError} when it was refused
 */
export type Exchange = (commands: readonly Words[], own: Try) => Promise<readonly Answer[]>;

export interface SenderOptions {
  readonly retry: RetryOptions | undefined;
  /** Sends the variant of every script that locks only the keys it declares. */
  readonly keyLocking: boolean;
  readonly timing?: Timing | undefined;
}

/** A command of one `send`. */
interface Entry {
  readonly command: Command;
  /** Copies that were sent, and what the last of them said. */
  copies: number;
  words: Words;
  /** Redis did not know the script, so its body is sent. That copy did not run. */
  withBody: boolean;
  outcome?: CommandOutcome;
}

/** `send` over an {@link Exchange}: scripts, resends and errors are the same for every transport. */
export function sender(exchange: Exchange, options: SenderOptions): Transport["send"] {
  const { keyLocking, timing } = options;
  const policy = retryPolicy(options.retry);

  return async (commands, { signal } = {}) => {
    if (commands.length === 0) return [];
    const entries: Entry[] = commands.map((command) => ({ command, copies: 0, words: [], withBody: false }));
    const open = () => entries.filter(({ outcome }) => outcome === undefined);

    try {
      await retryRedis({
        policy,
        timing,
        signal,
        attempt: (own) => {
          const copies = open().map((entry) => nextCopy(entry, keyLocking));
          return exchange(copies, own);
        },
        accept: (answers) => settle(open(), answers),
      });
    } catch (error) {
      const unsettled = open();
      const partial = unsettled.length < entries.length;
      if (!(error instanceof SluiceError) || error.code === "aborted" || !partial) throw error;
      for (const entry of unsettled) entry.outcome = { error };
    }
    // `retryRedis` returns when none is open, and the rest was filled in above.
    return entries.map(({ outcome }) => outcome!);
  };
}

/** Takes the answers of one try over into the entries that were sent. */
function settle(sent: readonly Entry[], answers: readonly Answer[]): "done" | "again" {
  let next: "done" | "again" = "done";
  let lost: string | undefined;
  for (const [index, entry] of sent.entries()) {
    const answer = answers[index] ?? { lost: "fewer replies than commands" };
    const { command } = entry;
    if ("reply" in answer) {
      entry.outcome = { reply: answer.reply };
    } else if ("lost" in answer) {
      lost = answer.lost;
    } else if (isScriptCall(command) && !entry.withBody && isNoScript(answer.redisError)) {
      entry.withBody = true;
      next = "again";
    } else if (isRefusedForNow(answer.redisError)) {
      lost = withhold(answer.redisError, entry.words);
    } else {
      entry.outcome = { error: redisError(answer.redisError, entry.words) };
    }
  }
  if (lost !== undefined) throw new Transient(lost);
  return next;
}

/** A script that Redis did not know has not run: sending its body is no resend. */
function nextCopy(entry: Entry, keyLocking: boolean): Words {
  const { command, withBody } = entry;
  const isResend = entry.copies > (withBody ? 1 : 0);
  entry.copies++;
  entry.words = isScriptCall(command) ? scriptWords(command, { withBody, isResend, keyLocking }) : command;
  return entry.words;
}

function scriptWords(
  call: ScriptCall,
  how: { readonly withBody: boolean; readonly isResend: boolean; readonly keyLocking: boolean },
): Words {
  const { script, keys } = call;
  const { withBody, isResend, keyLocking } = how;
  const words = withBody
    ? ["EVAL", keyLocking ? keyLockingLine + script.source : script.source]
    : ["EVALSHA", keyLocking ? script.keyLockingSha1 : script.sha1];
  const args = isResend ? (call.resendArgs ?? call.args) : call.args;
  return [...words, String(keys.length), ...keys, ...args];
}

function isScriptCall(command: Command): command is ScriptCall {
  return "script" in command;
}
