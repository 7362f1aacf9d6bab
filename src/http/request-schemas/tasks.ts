import * as v from "valibot";
import { fields, list, noArray } from "../request/validate.ts";
import {
  bounds,
  decodeBytes,
  described,
  encoding,
  headers,
  instant,
  name,
  receipt,
  taskId,
  whole,
} from "./values.ts";
import { duration, positiveDuration, wait } from "./durations.ts";
import { worker } from "./workers.ts";
import { LAST_DUE, TOKEN } from "../../queue/core/validation.ts";

/** The id in the path. */
export const idInPath = fields({ id: taskId });

export const newTask = v.pipe(
  fields({
    payload: described(
      v.unknown(),
      "Any JSON value; with `encoding`, bytes in base64. Numbers are 64-bit floats: extra digits are rounded, and a number out of range, such as 1e400, is refused.",
    ),
    encoding: v.exactOptional(encoding),
    id: v.exactOptional(
      described(
        taskId,
        "An id of your own. While the task is known, another enqueue with this id changes nothing. Default: a generated id.",
      ),
    ),
    unique: v.exactOptional(
      described(
        duration,
        'How long the `id` is refused from this enqueue on, such as "24h": another enqueue with it changes nothing, even if the task has completed, was cancelled, or its record was deleted. Needs an `id`; not with `again`. Default 0: as long as the task or its record is kept.',
      ),
    ),
    again: v.exactOptional(
      described(
        v.boolean(),
        "True: if the task with this `id` has ended, enqueue it anew and replace the old record. Default false.",
      ),
    ),
    dedup: v.exactOptional(
      described(
        fields({
          key: described(name, "Tasks of one queue with the same key are the same work."),
          window: described(
            positiveDuration,
            "How long the key is kept from the first task on, even if that task ends; at least 1 ms.",
          ),
        }),
        "Deduplication: of the tasks with the same key, only the first within its window is added. The others get its id in the response.",
      ),
    ),
    group: v.exactOptional(
      described(name, "The tenant or client that the task belongs to. Groups share a queue fairly."),
    ),
    priority: v.exactOptional(whole(0, 9, "Tasks with a higher priority are pulled first. Default 0.")),
    delay: v.exactOptional(described(duration, "How long until the task becomes pending. Default 0.")),
    at: v.exactOptional(instant(LAST_DUE, "When the task becomes pending, epoch ms; instead of `delay`.")),
    lease: v.exactOptional(
      described(positiveDuration, "How long one attempt may take. Default: the lease of the pull."),
    ),
    maxAttempts: v.exactOptional(
      whole(
        0,
        1_000_000,
        "Charged attempts after which the task becomes a dead letter; 0 is no limit. Default 10.",
      ),
    ),
    resultTtl: v.exactOptional(
      described(
        duration,
        'How long the record and the result of the completed task are kept, at least 5 minutes. With 0 no result is kept, and the id stays known for 5 minutes. Default "1h".',
      ),
    ),
    deadTtl: v.exactOptional(
      described(
        duration,
        'How long the dead letter, with its payload and error, is kept, at least 5 minutes. With 0 no dead letter is kept, and the id stays known for 5 minutes. Default "7d".',
      ),
    ),
    headers: v.exactOptional(
      described(headers, "Texts that are stored with the payload, at most 16 KiB in total."),
    ),
  }),
  decodeBytes("payload"),
);

export const newTasks = fields({
  tasks: v.pipe(
    list(newTask, bounds.tasks, `must have at most ${bounds.tasks} tasks`),
    v.minLength(1, "must have at least one task"),
  ),
});

const tokenForm = "must be 8 to 64 characters of A-Z, a-z, 0-9, _ and -";

export const pull = fields({
  max: v.exactOptional(whole(1, bounds.pull, "The most tasks to pull. Default 1.")),
  lease: v.exactOptional(
    described(positiveDuration, 'The lease of tasks that were enqueued without one. Default "5m".'),
  ),
  token: v.exactOptional(
    v.pipe(
      v.string(tokenForm),
      v.regex(TOKEN, tokenForm),
      v.description(
        "Identifies this pull; make a new one for each. If the pull is sent again with the same token, it gets the same tasks, without those whose lease has ended. A pull that found nothing stays empty.",
      ),
    ),
  ),
  worker: v.exactOptional(
    described(
      worker,
      "The worker that pulls. It counts as a listener of the queue. When it fails, its tasks can be taken back at once.",
    ),
  ),
  wait: v.exactOptional(
    described(
      wait,
      'How long to wait if there is no task, at most "60s". Each second costs about 3 Redis commands. Default 0: do not wait.',
    ),
  ),
  maxBytes: v.exactOptional(
    whole(
      1,
      8_000_000,
      "The most payload bytes in the response. One task is always included. Default 8,000,000.",
    ),
  ),
});

const outcomeForm = "must be complete, reject, requeue or extend";
const error = described(v.unknown(), "What went wrong: any JSON value; with `encoding`, bytes in base64.");

const backoffForm = "must be true, a list of 1 to 100 durations, or an object of base, factor and most";

const backoff = described(
  v.union(
    [
      v.literal(true),
      v.pipe(list(duration, 100, backoffForm), v.minLength(1)),
      fields({
        base: v.exactOptional(
          described(duration, "The longest delay before the second attempt. Default 10s."),
        ),
        factor: v.exactOptional(
          described(
            v.pipe(v.number(), v.minValue(1), v.maxValue(100)),
            "The factor by which each further attempt multiplies the longest delay, from 1 to 100. Default 3.",
          ),
        ),
        most: v.exactOptional(described(duration, "The longest delay before any attempt. Default 1h.")),
      }),
    ],
    backoffForm,
  ),
  "A delay that depends on the number of attempts that count, instead of `delay`. True: up to 10 s after the first attempt, 30 s after the second, 90 s after the third, and so on up to 1 hour. Each delay is random, between half of that time and the whole. An object sets these times. A list has the exact delay after each attempt; its last entry applies to all further attempts.",
);

export const settlement = v.pipe(
  noArray(
    v.variant(
      "outcome",
      [
        fields({
          receipt,
          outcome: v.literal("complete"),
          result: v.exactOptional(
            described(v.unknown(), "Any JSON value; with `encoding`, bytes in base64."),
          ),
          encoding: v.exactOptional(encoding),
          ttl: v.exactOptional(
            described(
              duration,
              "How long the record and the result are kept. Default: the task's resultTtl.",
            ),
          ),
        }),
        fields({
          receipt,
          outcome: v.literal("reject"),
          error: v.exactOptional(error),
          encoding: v.exactOptional(encoding),
          ttl: v.exactOptional(
            described(duration, "How long the dead letter is kept. Default: the task's deadTtl."),
          ),
        }),
        fields({
          receipt,
          outcome: v.literal("requeue"),
          error: v.exactOptional(error),
          encoding: v.exactOptional(encoding),
          delay: v.exactOptional(described(duration, "How long until the task is pending again. Default 0.")),
          backoff: v.exactOptional(backoff),
          count: v.exactOptional(
            described(v.boolean(), "False: the attempt does not count towards maxAttempts. Default true."),
          ),
          unstarted: v.exactOptional(
            described(
              v.boolean(),
              "True hands back a task that was not started. The attempt does not count. The task goes to the front, or to its old place if it has a group or a priority. Not with `delay`, `backoff` or `error`.",
            ),
          ),
        }),
        fields({
          receipt,
          outcome: v.literal("extend"),
          lease: v.exactOptional(
            described(positiveDuration, "The new lease, from now. Default: the task's own lease."),
          ),
          progress: v.exactOptional(
            described(
              v.unknown(),
              "Progress of the work: any JSON value, at most 1 KiB. Replaces the previous one.",
            ),
          ),
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
  lease: v.exactOptional(
    whole(0, Number.MAX_SAFE_INTEGER, "Cancel only if the task is under the lease with this number."),
  ),
});
