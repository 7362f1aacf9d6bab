/** Names of topics, and patterns of them. */
import { invalidArgument } from "../../errors.ts";
import { WORD_PATTERN, wordPatternForm, WORDS } from "../../kernel/names/word-pattern.ts";

/** @throws {SluiceError} `invalid_argument` */
export function topicName(value: unknown, path = "topic"): string {
  if (typeof value === "string" && WORDS.test(value)) return value;
  throw invalidArgument(
    path,
    "must be words of A-Z a-z 0-9 _ - with dots between, of at most 128 characters",
  );
}

/**
 * A topic, or a pattern of topics.
 * @throws {SluiceError} `invalid_argument`
 */
export function topicPattern(value: unknown, path = "topic"): string {
  if (typeof value === "string" && WORD_PATTERN.test(value)) return value;
  throw invalidArgument(path, wordPatternForm);
}
