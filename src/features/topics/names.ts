/** Names of topics, and patterns of them. */
import { invalidArgument } from "../../errors.ts";
import { QUEUE } from "../../kernel/options/validation.ts";

const PATTERN = /^[A-Za-z0-9_*#-][A-Za-z0-9_.*#-]{0,127}$/;

/** @throws {SluiceError} `invalid_argument` */
export function topicName(value: unknown, path = "topic"): string {
  if (typeof value === "string" && QUEUE.test(value)) return value;
  throw invalidArgument(path, `must match ${QUEUE.source}`);
}

/**
 * A pattern of topics: words divided by dots. `*` is one word, `#` any number of words, also none.
 * @throws {SluiceError} `invalid_argument`
 */
export function topicPattern(value: unknown, path = "topic"): string {
  if (typeof value === "string" && PATTERN.test(value)) {
    const words = value.split(".");
    const isWild = (word: string) => word === "*" || word === "#";
    // Each `#` makes the search longer.
    const few = words.filter((word) => word === "#").length <= 3;
    if (few && words.every((word) => isWild(word) || !/[*#]/.test(word))) return value;
  }
  throw invalidArgument(path, "must be a topic, or a pattern such as orders.* (one word) or orders.# (any words)");
}

/** Whether a pattern stands for a topic. */
export function matchesTopic(pattern: string, topic: string): boolean {
  return pattern === topic || matchWords(pattern.split("."), topic.split("."));
}

function matchWords(pattern: readonly string[], topic: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return topic.length === 0;
  if (first === "#") return topic.some((_, i) => matchWords(rest, topic.slice(i))) || matchWords(rest, []);
  const [word, ...words] = topic;
  return word !== undefined && (first === "*" || first === word) && matchWords(rest, words);
}
