import { SluiceError } from "../errors.ts";
import { Refused, Transient, type Timing, type Try } from "../retry.ts";
import {
  keyLocking as keyLockingLine,
  type Command,
  type CommandOutcome,
  type Reply,
  type ScriptCall,
  type Transport,
} from "../kernel/transport.ts";
import type { CommandWords } from "./command-words.ts";
import { isNoScript, isRefusedForNow } from "./redis-refusal.ts";
import { retryPolicy, retryRedis, type RetryOptions } from "./retry.ts";

/** The result of one command of an {@link Exchange}; `lost` says why it has none. */
export type ExchangeResult =
  | { readonly reply: Reply }
  | { readonly redisError: string }
  | { readonly lost: string };

/**
 * Sends the commands once, in order, in one request. Only this differs between transports: see {@link
 * sender}.
 * @returns one result for each command, in order
 * @throws {Transient} if the request as a whole was lost; {@link SluiceError} if it was refused
 */
export type Exchange = (
  commands: readonly CommandWords[],
  currentTry: Try,
) => Promise<readonly ExchangeResult[]>;

export interface SenderOptions {
  readonly retry: RetryOptions | undefined;
  /** Sends each script in the variant that locks only the keys it declares. */
  readonly keyLocking: boolean;
  readonly timing?: Timing | undefined;
}

/** A command of one `send`. */
interface SentCommand {
  readonly command: Command;
  /** How many copies were sent, and the words of the last one. */
  copies: number;
  words?: CommandWords;
  /** Whether to send the script's body, because Redis did not know the script. That copy did not run. */
  withBody: boolean;
  outcome?: CommandOutcome;
}

/**
 * Makes the `send` of a transport from an {@link Exchange}. Scripts, resends and errors are the same for all.
 */
export function sender(exchange: Exchange, options: SenderOptions): Transport["send"] {
  const { keyLocking, timing } = options;
  const policy = retryPolicy(options.retry);

  return async (commands, { signal, onSend } = {}) => {
    if (commands.length === 0) return [];
    const entries: SentCommand[] = commands.map((command) => ({
      command,
      copies: 0,
      withBody: false,
    }));
    const unanswered = () => entries.filter(({ outcome }) => outcome === undefined);

    try {
      await retryRedis({
        policy,
        timing,
        signal,
        // Async, so that an error of `onSend` ends the try as one of the exchange does.
        attempt: async (currentTry) => {
          onSend?.();
          const sent = unanswered();
          const copies = sent.map((entry) => nextCopy(entry, keyLocking));
          const results = await exchange(copies, currentTry);
          const hasError = results.some((result, i) => "redisError" in result && !isUnknown(sent[i], result));
          return { results, texts: hasError ? await import("./redis-error.ts") : undefined };
        },
        accept: ({ results, texts }) => assignResults(unanswered(), results, texts),
      });
    } catch (error) {
      const failed = unanswered();
      const partial = failed.length < entries.length;
      if (!(error instanceof SluiceError) || error.code === "aborted" || !partial) throw error;
      for (const entry of failed) entry.outcome = { error };
    }
    // Every command has an outcome: `retryRedis` returned, or the loop above has set the rest.
    return entries.map(({ outcome }) => outcome!);
  };
}

/** Whether a result says that Redis does not know the script of a call. */
function isUnknown(entry: SentCommand | undefined, result: { readonly redisError: string }): boolean {
  return (
    entry !== undefined && isScriptCall(entry.command) && !entry.withBody && isNoScript(result.redisError)
  );
}

/**
 * Assigns the results of one try to the commands that were sent.
 * @param texts makes errors of those of Redis; undefined if there are none
 */
function assignResults(
  sent: readonly SentCommand[],
  results: readonly ExchangeResult[],
  texts: typeof import("./redis-error.ts") | undefined,
): "done" | "again" {
  let next: "done" | "again" = "done";
  let failure: Transient | undefined;
  for (const [index, entry] of sent.entries()) {
    const result = results[index] ?? { lost: "fewer replies than commands" };
    if ("reply" in result) {
      entry.outcome = { reply: result.reply };
    } else if ("lost" in result) {
      failure = new Transient(result.lost);
    } else if (isUnknown(entry, result)) {
      entry.withBody = true;
      next = "again";
    } else if (isRefusedForNow(result.redisError)) {
      failure = new Refused(texts!.redact(result.redisError, entry.words!));
    } else {
      entry.outcome = { error: texts!.redisError(result.redisError, entry.words!) };
    }
  }
  if (failure) throw failure;
  return next;
}

/**
 * The words of the next copy. A script that Redis did not know has not run, so sending its body is no resend.
 */
function nextCopy(entry: SentCommand, keyLocking: boolean): CommandWords {
  const { command, withBody } = entry;
  const isResend = entry.copies > (withBody ? 1 : 0);
  entry.copies++;
  entry.words = isScriptCall(command) ? scriptWords(command, { withBody, isResend, keyLocking }) : command;
  return entry.words;
}

function scriptWords(
  call: ScriptCall,
  how: { readonly withBody: boolean; readonly isResend: boolean; readonly keyLocking: boolean },
): CommandWords {
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
