// Patterns: code as it is in a source, with wildcards.
//   _         an expression                       _1 … _9   the same, for use in what replaces it
//   …         any code, also none
// Spaces, line breaks and comments do not matter.

/** A place in a source that a pattern describes. */
export interface Match {
  readonly from: number;
  readonly to: number;
  /** The text of `_1` to `_9` and `…`, by their name. */
  readonly captured: ReadonlyMap<string, string>;
}

export interface Token {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

/** A string is a token, a word or number, an operator, or any other character. */
const TOKEN =
  /--.*|\/\/.*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[\w$]+|[=!~<>]==?|=>|\.\.\.?|&&|\|\||\?[?.]|\S/g;

export function tokensOf(code: string): Token[] {
  const all = Array.from(code.matchAll(TOKEN), ({ 0: text, index }) => ({
    text,
    from: index,
    to: index + text.length,
  }));
  return all.filter(({ text }) => !/^(?:--|\/\/)./.test(text));
}

/** The places in a source; `tokens` are those of its text. */
export function matchesIn(text: string, tokens: readonly Token[], pattern: string): Match[] {
  const wanted = tokensOf(pattern).map((token) => token.text);
  return tokens.flatMap(({ from }, start) => {
    const captured = new Map<string, string>();
    const end = match(text, tokens, start, wanted, captured);
    return end > start ? [{ from, to: tokens[end - 1]?.to ?? from, captured }] : [];
  });
}

/** @returns where the match ends; -1 if there is none */
function match(
  text: string,
  tokens: readonly Token[],
  at: number,
  [first, ...others]: readonly string[],
  captured: Map<string, string>,
): number {
  if (first === undefined) return at;
  if (!/^(?:_\d?|…)$/.test(first))
    return tokens[at]?.text === first ? match(text, tokens, at + 1, others, captured) : -1;
  const least = first === "…" ? at : at + 1;
  for (let end = at, depth = 0; end <= tokens.length; end++) {
    if (end >= least && depth === 0) {
      const found = match(text, tokens, end, others, captured);
      if (found >= 0) {
        captured.set(first, text.slice(tokens[at]?.from, tokens[end - 1]?.to));
        return found;
      }
    }
    depth += nesting(tokens[end]?.text ?? "");
    if (depth < 0) return -1;
  }
  return -1;
}

/** What a token opens, or closes. */
function nesting(token: string): number {
  if (/^(?:[([{]|if|for|while|function)$/.test(token)) return 1;
  return /^(?:[)\]}]|end)$/.test(token) ? -1 : 0;
}
