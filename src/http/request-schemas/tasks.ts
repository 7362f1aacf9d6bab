import * as v from "valibot";
import { fields, list, noArray } from "../request/validate.ts";
import { bounds, decodeBytes, encoding, headers, instant, name, receipt, taskId, integer } from "./values.ts";
import { duration, positiveDuration, wait } from "./durations.ts";
import { worker } from "./workers.ts";
import { LAST_DUE } from "../../kernel/options/instants.ts";
import { TOKEN } from "../../kernel/options/validation.ts";

/** The id in the path. */
export const idInPath = fields({ id: taskId });

const content = { payload: v.unknown(), encoding: v.exactOptional(encoding) };

const turn = {
  group: v.exactOptional(name),
  priority: v.exactOptional(integer(0, 9)),
  delay: v.exactOptional(duration),
};

const handling = {
  lease: v.exactOptional(positiveDuration),
  maxAttempts: v.exactOptional(integer(0, 1_000_000)),
  resultTtl: v.exactOptional(duration),
  deadTtl: v.exactOptional(duration),
  headers: v.exactOptional(headers),
};

/** What a task in a flow has too. */
export const flowTaskFields = { ...content, ...turn, ...handling };

// In the order in which errors are listed.
const taskFields = {
  ...content,
  id: v.exactOptional(taskId),
  unique: v.exactOptional(duration),
  again: v.exactOptional(v.boolean()),
  dedup: v.exactOptional(
    fields({
      key: name,
      window: positiveDuration,
    }),
  ),
  ...turn,
  at: v.exactOptional(instant(LAST_DUE)),
  ...handling,
};

/** One of several tasks. */
export const newTask = v.pipe(fields(taskFields), decodeBytes("payload"));

/** A task alone, which may change an earlier one. */
export const newSingleTask = v.pipe(
  fields({
    ...taskFields,
    debounce: v.exactOptional(
      fields({
        key: name,
        wait: positiveDuration,
        maxWait: v.exactOptional(positiveDuration),
        keep: v.exactOptional(v.picklist(["last", "first", "all"])),
      }),
    ),
    throttle: v.exactOptional(
      fields({
        key: name,
        most: integer(1, 1_000_000),
        per: positiveDuration,
        excess: v.exactOptional(v.picklist(["drop", "delay"])),
      }),
    ),
    singleton: v.exactOptional(
      fields({
        key: name,
        while: v.picklist(["waiting", "unfinished"]),
        then: v.exactOptional(v.picklist(["drop", "replace", "cancel"])),
      }),
    ),
    replace: v.exactOptional(v.boolean()),
  }),
  decodeBytes("payload"),
);

/** A key in the path. */
export const keyInPath = fields({ key: name });

export const newTasks = fields({
  tasks: v.pipe(
    list(newTask, bounds.tasks, `must have at most ${bounds.tasks} tasks`),
    v.minLength(1, "must have at least one task"),
  ),
});

const tokenForm = "must be 8 to 64 characters of A-Z, a-z, 0-9, _ and -";

export const pull = fields({
  max: v.exactOptional(integer(1, bounds.pull)),
  lease: v.exactOptional(positiveDuration),
  token: v.exactOptional(v.pipe(v.string(tokenForm), v.regex(TOKEN, tokenForm))),
  worker: v.exactOptional(worker),
  wait: v.exactOptional(wait),
  maxBytes: v.exactOptional(integer(1, 8_000_000)),
});

const outcomeForm = "must be complete, reject, requeue or extend";
const error = v.unknown();

const backoffForm = "must be true, a list of 1 to 100 durations, or an object of base, factor and most";

const backoff = v.union(
  [
    v.literal(true),
    v.pipe(list(duration, 100, backoffForm), v.minLength(1)),
    fields({
      base: v.exactOptional(duration),
      factor: v.exactOptional(v.pipe(v.number(), v.minValue(1), v.maxValue(100))),
      most: v.exactOptional(duration),
    }),
  ],
  backoffForm,
);

export const settlement = v.pipe(
  noArray(
    v.variant(
      "outcome",
      [
        fields({
          receipt,
          outcome: v.literal("complete"),
          result: v.exactOptional(v.unknown()),
          encoding: v.exactOptional(encoding),
          ttl: v.exactOptional(duration),
        }),
        fields({
          receipt,
          outcome: v.literal("reject"),
          error: v.exactOptional(error),
          encoding: v.exactOptional(encoding),
          ttl: v.exactOptional(duration),
        }),
        fields({
          receipt,
          outcome: v.literal("requeue"),
          error: v.exactOptional(error),
          encoding: v.exactOptional(encoding),
          delay: v.exactOptional(duration),
          backoff: v.exactOptional(backoff),
          count: v.exactOptional(v.boolean()),
          unstarted: v.exactOptional(v.boolean()),
          queue: v.exactOptional(v.boolean()),
        }),
        fields({
          receipt,
          outcome: v.literal("extend"),
          lease: v.exactOptional(positiveDuration),
          progress: v.exactOptional(v.unknown()),
        }),
      ],
      (issue) => (issue.path ? outcomeForm : "must be an object"),
    ),
  ),
  decodeBytes("result", "error"),
);

export const settle = fields({
  settlements: list(settlement, bounds.settlements, `must have at most ${bounds.settlements} settlements`),
  pull: v.exactOptional(pull),
});

export const cancel = fields({
  lease: v.exactOptional(integer(0, Number.MAX_SAFE_INTEGER)),
});
