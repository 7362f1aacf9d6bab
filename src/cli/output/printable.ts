/**
 * A text without control characters, so that an error or payload that someone else wrote cannot move the cursor or
 * change colours. Line breaks become `⏎`.
 */
export function printable(text: string): string {
  return text.replace(/\r?\n/g, "⏎").replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (char) => {
    const code = (char.codePointAt(0) ?? 0).toString(16).padStart(4, "0");
    return char === "\t" ? " " : `\\u${code}`;
  });
}

/** The first `most` characters of a text, with `…` if it is longer. */
export function shortened(text: string, most: number): string {
  const characters = Array.from(text);
  return characters.length <= most ? text : `${characters.slice(0, Math.max(0, most - 1)).join("")}…`;
}

/** The error of a task or an attempt as one line: `name: message` of an exception, other values as JSON. */
export function errorLine(error: unknown): string {
  if (error === null || error === undefined) return "";
  if (typeof error === "string") return printable(error);
  const { name, message } = error as { readonly name?: unknown; readonly message?: unknown };
  if (typeof message === "string")
    return printable(`${typeof name === "string" ? name : "Error"}: ${message}`);
  return printable(JSON.stringify(error));
}
