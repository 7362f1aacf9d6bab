import type { Mutant } from "./mutant.ts";

/** Faults in when a task is tried again, and how often. */
export const attempts: readonly Mutant[] = [
  {
    name: "a backoff grows once too often",
    file: "src/queue/core/backoff.ts",
    find: "* factor ** (attempt - 1));",
    replace: "* factor ** attempt);",
    breaks: "answers",
    because: "the wait after the first attempt is three times what is documented",
  },
  {
    name: "a backoff is jittered from nothing on",
    file: "src/queue/core/backoff.ts",
    find: "(0.5 + random() / 2)",
    replace: "random()",
    breaks: "answers",
    because: "all attempts of a task may be over within an outage of an hour",
  },
  {
    name: "a backoff is not jittered",
    file: "src/queue/core/backoff.ts",
    find: "(0.5 + random() / 2)",
    replace: "(0.5 + 1 / 2)",
    breaks: "answers",
    because: "tasks that failed together return together, and overload the receiver again",
  },
  {
    name: "the default backoff begins at a second",
    file: "src/queue/core/backoff.ts",
    find: 'base = "10s"',
    replace: 'base = "1s"',
    breaks: "answers",
    because: "attempts are used up sooner than documented",
  },
  {
    name: "the default backoff doubles",
    file: "src/queue/core/backoff.ts",
    find: "factor = 3",
    replace: "factor = 2",
    breaks: "answers",
    because: "all attempts of a task may be over within an outage of an hour",
  },
  {
    name: "the default backoff ends at a quarter of an hour",
    file: "src/queue/core/backoff.ts",
    find: 'most = "1h"',
    replace: 'most = "15m"',
    breaks: "answers",
    because: "attempts are used up sooner than documented",
  },
  {
    name: "the end of a list of delays is no end",
    file: "src/queue/core/backoff.ts",
    find: "backoff[Math.min(attempt, backoff.length) - 1]",
    replace: "backoff[attempt - 1]",
    breaks: "answers",
    because: "a task that fails once more than the list is long cannot be settled",
  },
  {
    name: "a task has five attempts by default",
    file: "lua/lib/records.lua",
    find: "local DEFAULT_MAX_ATTEMPTS = 10",
    replace: "local DEFAULT_MAX_ATTEMPTS = 5",
    breaks: "I5",
    because: "a task whose receiver is down for an hour becomes a dead letter",
  },
];
