/**
 * A text without control characters, so that an error or payload that someone else wrote cannot move the cursor or
 * change colours. Line breaks become `⏎`.
 */
export function printable(text: string): string {
  return text.replace(/\r?\n/g, "⏎").replaceAll("\t", " ").replace(UNPRINTABLE, escaped);
}

/** Control characters, marks that change the direction of text, and separators of lines. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** As {@link printable}, for a text of several lines. */
export function printableLines(text: string): string {
  return text.split("\n").map(printable).join("\n");
}

/** A value as a line of JSON in which every character is printable. It means the same as without the escapes. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value).replace(UNPRINTABLE, escaped);
}

/** The `\u` escapes of a character, as in JSON. */
function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}

/** The first `most` characters of a text, with `…` if it is longer. */
export function shortened(text: string, most: number): string {
  // A character has at most two units, so the rest of a long text need not be split.
  const characters = Array.from(text.slice(0, 2 * most + 2));
  return characters.length <= most ? text : `${characters.slice(0, Math.max(0, most - 1)).join("")}…`;
}

/** A text in lines of at most that width, broken between words if they are not longer, with `…` if it has more lines. */
export function linesOf(text: string, width: number, most: number): string[] {
  const lines: string[] = [];
  for (const [word] of text.matchAll(new RegExp(`\\S{1,${width}}`, "gu"))) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  if (lines.length <= most) return lines;
  return [...lines.slice(0, most - 1), shortened(lines.slice(most - 1).join(" "), width)];
}

/** A command in a sentence, to its end, or a word. */
const WORDS = /sluice .*?(?=[.;,] |$)|\S+/g;

/** A text in lines of at most that width, the further ones behind an indent. A command stays in one, to be copied. */
export function wrapped(text: string, width: number, indent: string): string {
  const lines: string[] = [];
  for (const [word] of text.matchAll(WORDS)) {
    const last = lines.at(-1);
    if (last === undefined || indent.length + last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.join(`\n${indent}`);
}

/** Longer lines of errors are cut: no terminal is as wide. */
const MOST = 1_000;

/** The error of a task or an attempt as one line: `name: message` of an exception, other values as JSON. */
export function errorLine(error: unknown): string {
  if (error === null || error === undefined) return "";
  if (typeof error === "string") return line(error);
  const { name, message } = error as { readonly name?: unknown; readonly message?: unknown };
  if (typeof message === "string") return line(`${typeof name === "string" ? name : "Error"}: ${message}`);
  return line(JSON.stringify(error));
}

function line(text: string): string {
  return printable(shortened(text, MOST));
}
