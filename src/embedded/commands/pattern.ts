import type { Bytes } from "../bytes.ts";

/** A test for a glob pattern of Redis: `*`, `?`, `[a-z]`, `[^a]`, and a backslash in front of a plain character. */
export function matches(pattern: Bytes): (text: Bytes) => boolean {
  if (pattern === "*") return () => true;
  let source = "";
  for (let at = 0; at < pattern.length; at++) {
    const letter = pattern[at] as string;
    if (letter === "*") source += "[^]*";
    else if (letter === "?") source += "[^]";
    else if (letter === "[") {
      const set = readSet(pattern, at + 1);
      source += set.source;
      at = set.end;
    } else if (letter === "\\" && at + 1 < pattern.length) {
      at += 1;
      source += quoted(pattern[at] as string);
    } else source += quoted(letter);
  }
  const regular = new RegExp(`^${source}$`);
  return (text) => regular.test(text);
}

/** A set of characters, from behind its bracket to the closing one, or to the end of the pattern. */
function readSet(pattern: Bytes, from: number): { source: string; end: number } {
  const isNegated = pattern[from] === "^";
  let members = "";
  let at = isNegated ? from + 1 : from;
  for (; at < pattern.length && pattern[at] !== "]"; at++) {
    if (pattern[at] === "\\" && at + 1 < pattern.length) {
      at += 1;
      members += quoted(pattern[at] as string);
    } else if (pattern[at + 1] === "-" && at + 2 < pattern.length) {
      const ends = [pattern[at] as string, pattern[at + 2] as string].toSorted();
      members += ends.map(quoted).join("-");
      at += 2;
    } else members += quoted(pattern[at] as string);
  }
  const none = isNegated ? "[^]" : "[]";
  return { source: members === "" ? none : `[${isNegated ? "^" : ""}${members}]`, end: at };
}

/** A regular expression for exactly this character. */
const quoted = (letter: string): string => `\\x${letter.charCodeAt(0).toString(16).padStart(2, "0")}`;
