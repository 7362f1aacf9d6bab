import { SluiceError, type SluiceErrorCode } from "../errors.ts";
import type { CommandWords } from "./command-words.ts";

/** Where an error text begins to repeat the command, which may contain payloads. */
const repeatedCommand = /,? (?:command was:|with args beginning with:)[^]*$/;
/** Arguments of at least this length are removed from error texts. Shorter ones are words and numbers. */
const shortestRedacted = 8;
const longestText = 500;

const kinds: readonly (readonly [code: SluiceErrorCode, meaning: string, text: RegExp])[] = [
  [
    "too_large",
    "The request is too large for Redis",
    /max request size exceeded|payload too large|string exceeds maximum allowed size|Protocol error: too big/i,
  ],
  [
    "queue_full",
    "Redis has no room",
    /\bOOM command not allowed|^OOM\b|max single record size exceeded|max (?:database|data|storage|disk) size exceeded|capacity quota exceeded/i,
  ],
  [
    "redis_quota",
    "The quota of the Redis account is used up",
    /max (?:daily |monthly )?(?:requests?|bandwidth) limit exceeded/i,
  ],
  [
    "redis_unauthorized",
    "Redis refused the credentials, or they do not allow the command",
    /^(?:WRONGPASS|NOAUTH|NOPERM)\b|^(?:unauthorized|forbidden)\b|^ERR (?:AUTH|invalid password|Client sent AUTH)\b|user executing the script can't (?:run|access)\b|^ERR ACL failure in script\b|^ERR Protocol error: unauthenticated\b/i,
  ],
  ["redis_error", "Redis refused the command", /(?:)/],
];

/** The error of a command to which Redis replied with the error `text`. The command is removed from it. */
export function redisError(text: string, ...commands: readonly CommandWords[]): SluiceError {
  const [code, meaning] = kinds.find(([, , pattern]) => pattern.test(text))!;
  return new SluiceError(code, `${meaning}: ${redact(text, ...commands)}`);
}

/** Removes from an error text the command that it may repeat, and long arguments of the commands. */
export function redact(text: string, ...commands: readonly CommandWords[]): string {
  let shown = text.replace(repeatedCommand, "");
  // The longest first: one that is part of another would break it.
  for (const word of commands.flatMap(payloadsOf).toSorted((a, b) => b.length - a.length)) {
    if (word.length >= shortestRedacted) shown = shown.replaceAll(word, "…");
  }
  return shown.length > longestText ? `${shown.slice(0, longestText)}…` : shown;
}

/**
 * The arguments of a command. Of a script call only ARGV: its keys contain the queue's name, which may be
 * shown.
 */
function payloadsOf([name = "", ...words]: CommandWords): CommandWords {
  return /^EVAL/i.test(name) ? words.slice(2 + Number(words[1])) : words;
}
