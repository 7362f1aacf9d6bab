import { SluiceError, type SluiceErrorCode } from "../errors.ts";

/** One command as Redis takes it: its name and its arguments. */
export type Words = readonly string[];

/** Where clients and servers begin to repeat the command in an error text: payloads would follow. */
const repeatedCommand = /,? (?:command was:|with args beginning with:)[^]*$/;
/** An argument at least this long is taken out of an error text; shorter ones are words and numbers. */
const shortestWithheld = 8;
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

/** The error of a command that Redis answered with `text`. The command itself is kept out of it. */
export function redisError(text: string, ...commands: readonly Words[]): SluiceError {
  const [code, meaning] = kinds.find(([, , pattern]) => pattern.test(text))!;
  return new SluiceError(code, `${meaning}: ${withhold(text, ...commands)}`);
}

/** True where Redis refused the command for now, without having run any of it. */
export function isRefusedForNow(text: string): boolean {
  return /^(?:LOADING|BUSY|TRYAGAIN|MASTERDOWN|CLUSTERDOWN)\b/.test(text);
}

/** True where Redis does not know the script of an EVALSHA. */
export function isNoScript(text: string): boolean {
  return /^(?:ERR )?NOSCRIPT\b/.test(text);
}

/** An error text without the command that it may repeat, and without anything the commands carried. */
export function withhold(text: string, ...commands: readonly Words[]): string {
  let shown = text.replace(repeatedCommand, "");
  for (const word of commands.flatMap(carried)) {
    if (word.length >= shortestWithheld) shown = shown.replaceAll(word, "…");
  }
  return shown.length > longestText ? `${shown.slice(0, longestText)}…` : shown;
}

/** The arguments of a command. Of a script call only ARGV: its keys name a queue, and that may be shown. */
function carried([name = "", ...words]: Words): Words {
  return /^EVAL/i.test(name) ? words.slice(2 + Number(words[1])) : words;
}
