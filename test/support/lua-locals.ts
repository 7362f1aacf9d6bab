/** Strings, names and keywords, and what separates the names behind `local`. */
const TOKENS = /'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[A-Za-z_]\w*|[,=\n;(){}]/g;

/**
 * The most locals that are in scope at once at the top level of a script, outside of its functions. Lua keeps each in a
 * register for as long as it is in scope.
 * @param text without comments and long strings, as scripts are embedded
 */
export function mostLocals(text: string): number {
  /** The locals of each open block; undefined for a function, whose locals are its own. */
  const blocks: (number | undefined)[] = [0];
  let functions = 0;
  let most = 0;
  const add = (count: number) => {
    if (functions > 0) return;
    blocks[blocks.length - 1] = (blocks.at(-1) ?? 0) + count;
    most = Math.max(
      most,
      blocks.reduce<number>((sum, own) => sum + (own ?? 0), 0),
    );
  };
  let before = "";
  let isNaming = false;
  for (const [token] of text.matchAll(TOKENS)) {
    if (isNaming && /^\w/.test(token) && token !== "function" && before !== "local" && before !== ",")
      isNaming = false;
    if (token === "function") {
      if (before === "local") add(1);
      isNaming = false;
      functions++;
      blocks.push(undefined);
    } else if (/^(?:if|do|repeat)$/.test(token)) {
      blocks.push(0);
    } else if (token === "end" || token === "until") {
      if (blocks.pop() === undefined) functions--;
    } else if (token === "local") {
      isNaming = true;
    } else if (token === "=") {
      isNaming = false;
    } else if (isNaming && /^\w/.test(token)) {
      add(1);
    }
    before = token;
  }
  return most;
}
