/** A name of words with dots between. */
export const WORDS = /^(?=.{1,128}$)[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/;

/** A pattern of such names. */
export const WORD_PATTERN = /^(?=.{1,128}$)(?:[A-Za-z0-9_-]+|[*#])(?:\.(?:[A-Za-z0-9_-]+|[*#]))*$/;

/** What a pattern must be. */
export const wordPatternForm =
  "must be words of A-Z a-z 0-9 _ - with dots between, of at most 128 characters; * is any word, # any number of words";

/** Whether a name matches a pattern of words, in which `*` is one word, and `#` any number of words, also none. */
export function matchesWords(pattern: string, name: string): boolean {
  if (!pattern.includes("#")) return matchesFrom(pattern.split("."), name.split("."));
  // Where the words of the pattern may have ended so far: without it, many # would take a time that grows with each.
  const words = name.split(".");
  let ends = new Set([0]);
  for (const part of pattern.split(".")) {
    const next = new Set<number>();
    const least = Math.min(...ends);
    if (part === "#") for (let end = least; end <= words.length; end++) next.add(end);
    else for (const end of ends) if (isWord(part, words[end])) next.add(end + 1);
    ends = next;
    if (ends.size === 0) return false;
  }
  return ends.has(words.length);
}

const matchesFrom = (parts: readonly string[], words: readonly string[]) =>
  parts.length === words.length && parts.every((part, i) => isWord(part, words[i]));

const isWord = (part: string, word: string | undefined) =>
  word !== undefined && (part === "*" || part === word);
