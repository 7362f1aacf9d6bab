import * as v from "valibot";
import { LAST_INSTANT } from "../../kernel/options/instants.ts";
import { fields, list } from "../request/validate.ts";
import { budget, durationAsText } from "./durations.ts";
import { newTask } from "./tasks.ts";
import { bounds, headers, instant } from "./values.ts";
import { topicName, topicPattern } from "./words.ts";

/** The topic in the path. */
export const topicInPath = fields({ topic: topicName });

/** The topic, or the pattern of topics, in the path. */
export const patternInPath = fields({ pattern: topicPattern });

/** One of several messages, or one alone: the options of each copy. */
export const newMessage = newTask;

export const newMessages = fields({
  messages: v.pipe(
    list(newMessage, bounds.tasks, `must have at most ${bounds.tasks} messages`),
    v.minLength(1, "must have at least one message"),
  ),
});

export const preview = fields({ headers: v.exactOptional(headers) });

const header = v.string();
const texts = v.pipe(list(v.string(), 100, "must have at most 100 texts"), v.minLength(1));

const filterForm =
  "must be { header, in: [texts] }, with notIn: [texts] or exists: true in place of in; or a list of at most 10 of these";

const condition = v.union(
  [fields({ header, in: texts }), fields({ header, notIn: texts }), fields({ header, exists: v.boolean() })],
  filterForm,
);

const sinceForm = 'must be an instant in epoch ms, or a duration ago as a text, such as "2h"';
const since = v.union([instant(LAST_INSTANT), durationAsText], sinceForm);

export const subscription = fields({
  filter: v.exactOptional(v.union([condition, list(condition, 10, filterForm)], filterForm)),
  since: v.exactOptional(since),
});

export const replay = fields({ since, budget: v.exactOptional(budget) });
