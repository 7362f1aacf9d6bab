/** Names of words with dots between, and patterns of them. */
import * as v from "valibot";
import { wordPatternForm } from "../../kernel/names/word-pattern.ts";

const topicForm = "must be words of A-Z a-z 0-9 _ - with dots between, of at most 128 characters";

/** Words, with dots between. Those of the kernel look ahead for the length, which tools for JSON Schema do not. */
const words = (pattern: RegExp, form: string) =>
  v.pipe(v.string(form), v.maxLength(128, form), v.regex(pattern, form));

export const topicName = words(/^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/, topicForm);

export const topicPattern = words(/^(?:[A-Za-z0-9_-]+|[*#])(?:\.(?:[A-Za-z0-9_-]+|[*#]))*$/, wordPatternForm);
