import { badRequest } from "../failure.ts";

/** Longest delay between two attempts, ms. */
const LONGEST = 86_400_000;

/** Longest expression, in characters. */
const MOST = 500;

const FUNCTIONS: Readonly<Record<string, readonly [arity: number, call: (...numbers: number[]) => number]>> =
  {
    pow: [2, Math.pow],
    sqrt: [1, Math.sqrt],
    abs: [1, Math.abs],
    exp: [1, Math.exp],
    floor: [1, Math.floor],
    ceil: [1, Math.ceil],
    round: [1, Math.round],
    min: [2, Math.min],
    max: [2, Math.max],
  };

/**
 * The delay before the next attempt, ms.
 * @param expression of `Upstash-Retry-Delay`, in ms. @default QStash's backoff: 12 s, 2 min 28 s, 30 min 8 s, 6 h …
 * @param retried how many attempts have followed the first so far
 */
export function delayAfter(expression: string | undefined, retried: number): number {
  const ms =
    expression === undefined
      ? 1_000 * Math.floor(Math.exp(2.5 * (retried + 1)))
      : valueOf(expression, retried);
  return Number.isFinite(ms) ? Math.min(Math.max(Math.round(ms), 0), LONGEST) : LONGEST;
}

/**
 * Checks an expression.
 * @throws {Failure} 400
 */
export function checkedExpression(expression: string): string {
  valueOf(expression, 0);
  return expression;
}

/** The value of an expression: numbers, `retried`, `+ - * / %`, parentheses, and the functions above. */
function valueOf(expression: string, retried: number): number {
  const wrong = () => badRequest(`invalid Upstash-Retry-Delay: ${expression}`);
  if (expression.length > MOST) throw wrong();
  const tokens = expression.match(/\d+(?:\.\d+)?|[a-z]+|\S/g) ?? [];
  let at = 0;
  const take = (token: string) => {
    if (tokens[at] !== token) throw wrong();
    at++;
  };

  const sum = (): number => {
    let value = product();
    while (tokens[at] === "+" || tokens[at] === "-") value += tokens[at++] === "+" ? product() : -product();
    return value;
  };
  const product = (): number => {
    let value = factor();
    for (;;) {
      const operator = tokens[at];
      if (operator !== "*" && operator !== "/" && operator !== "%") return value;
      at++;
      const by = factor();
      value = operator === "*" ? value * by : operator === "/" ? value / by : value % by;
    }
  };
  const factor = (): number => {
    const token = tokens[at++] ?? "";
    if (token === "-") return -factor();
    if (/^\d/.test(token)) return Number(token);
    if (token === "retried") return retried;
    if (token === "(") {
      const value = sum();
      take(")");
      return value;
    }
    const found = Object.hasOwn(FUNCTIONS, token) ? FUNCTIONS[token] : undefined;
    if (!found) throw wrong();
    const [arity, call] = found;
    take("(");
    const values = [sum()];
    while (values.length < arity) {
      take(",");
      values.push(sum());
    }
    take(")");
    return call(...values);
  };

  const value = sum();
  if (at < tokens.length) throw wrong();
  return value;
}
