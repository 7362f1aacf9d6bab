import type { Bytes } from "./bytes.ts";
import type { Words } from "./words.ts";

/**
 * A line of MONITOR.
 * @param source the address of the client, or `lua`
 * @param now epoch ms
 */
export function showCommand(words: Words, source: string, now: number): Bytes {
  return `${(now / 1_000).toFixed(6)} [0 ${source}] ${words.map(quoted).join(" ")}`;
}

const escapes: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  '"': '\\"',
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\u0007": "\\a",
  "\b": "\\b",
};

const quoted = (word: Bytes): string =>
  `"${word.replaceAll(/[^ !#-[\]-~]/g, (letter) => escapes[letter] ?? `\\x${hex(letter)}`)}"`;

const hex = (letter: string) => letter.charCodeAt(0).toString(16).padStart(2, "0");
