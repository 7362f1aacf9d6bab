import type { GenericSchema } from "valibot";
import type { JsonSchema } from "../../src/http/docs/openapi-document.ts";
import { pick } from "../../src/pick.ts";
import * as declarations from "../../src/http/request-schemas/declaration.ts";
import * as endpoints from "../../src/http/request-schemas/endpoints.ts";
import * as flows from "../../src/http/request-schemas/flows.ts";
import { healthQuery } from "../../src/http/request-schemas/health.ts";
import { metricsQuery } from "../../src/http/request-schemas/metrics.ts";
import { overviewQuery } from "../../src/http/request-schemas/overview.ts";
import * as partitions from "../../src/http/request-schemas/partitions.ts";
import * as queues from "../../src/http/request-schemas/queues.ts";
import * as schedules from "../../src/http/request-schemas/schedules.ts";
import * as sweeps from "../../src/http/request-schemas/sweep.ts";
import * as search from "../../src/http/request-schemas/search.ts";
import * as taskOperation from "../../src/http/request-schemas/task-operation.ts";
import * as tasks from "../../src/http/request-schemas/tasks.ts";
import * as topics from "../../src/http/request-schemas/topics.ts";
import * as watch from "../../src/http/request-schemas/watch.ts";
import * as workers from "../../src/http/request-schemas/workers.ts";

/** What fields mean, by their names: a text, the texts of the fields within, or both. */
interface FieldTexts {
  readonly [name: string]: string | FieldTexts | readonly [string, FieldTexts];
}

const matching =
  "Queues whose names match this pattern, in which `*` matches any characters. Default: all that the token matches.";

const bytes = "Any JSON value; with `encoding`, bytes in base64.";
const encoding = "Set it if the value is bytes in base64.";

const newTask = {
  payload: `${bytes} Numbers are 64-bit floats: extra digits are rounded, and a number out of range, such as 1e400, is refused.`,
  encoding,
  id: "An id of your own. While the task is known, another enqueue with this id changes nothing. Default: a generated id.",
  unique:
    'How long the `id` is refused from this enqueue on, such as "24h": another enqueue with it changes nothing, even if the task has completed, was cancelled, or its record was deleted. Needs an `id`; not with `again`. Default 0: as long as the task or its record is kept.',
  again:
    "True: if the task with this `id` has ended, enqueue it anew and replace the old record. Default false.",
  dedup: [
    "Deduplication: of the tasks with the same key, only the first within its window is added. The others get its id in the response.",
    {
      key: "Tasks of one queue with the same key are the same work.",
      window: "How long the key is kept from the first task on, even if that task ends; at least 1 ms.",
    },
  ],
  group: "The tenant or client that the task belongs to. Groups share a queue fairly.",
  priority: "Tasks with a higher priority are pulled first. Default 0.",
  delay: "How long until the task becomes pending. Default 0.",
  at: "When the task becomes pending, epoch ms; instead of `delay`.",
  lease: "How long one attempt may take. Default: the lease of the pull.",
  maxAttempts: "Charged attempts after which the task becomes a dead letter; 0 is no limit. Default 10.",
  resultTtl:
    'How long the record and the result of the completed task are kept, at least 5 minutes. With 0 no result is kept, and the id stays known for 5 minutes. Default "1h".',
  deadTtl:
    'How long the dead letter, with its payload and error, is kept, at least 5 minutes. With 0 no dead letter is kept, and the id stays known for 5 minutes. Default "7d".',
  headers: "Texts that are stored with the payload, at most 16 KiB in total.",
} as const;

const newSingleTask: FieldTexts = {
  ...newTask,
  debounce: [
    "Joins the enqueues with one key into one task, which is due when no other has come for a while. Not with `delay` or `at`.",
    {
      key: "Tasks of one queue with the same key are joined.",
      wait: "How long after the last enqueue the task is due.",
      maxWait: "How long after the first enqueue it is due at the latest. Default: no bound.",
      keep: "Which payload the task gets: the last one, with its options; the first one; or all, as a list. A list with 1,000 payloads, or 1 MiB of JSON, starts at once, and the next enqueue begins another. Default last.",
    },
  ],
  throttle: [
    "Adds at most so many tasks of a key in a period.",
    {
      key: "Tasks of one queue with the same key are counted together.",
      most: "How many tasks a period may have.",
      per: "The period.",
      excess:
        "What becomes of the tasks beyond: they are dropped, or delayed until there is room. Default drop.",
    },
  ],
  singleton: [
    "Keeps one task of a key in the queue.",
    {
      key: "Tasks of one queue with the same key are the same work.",
      while:
        "Which task of the key is in the way of another one: one that no consumer has begun, or one that has not ended.",
      then: "What happens if one is: the new task is dropped, or replaces the payload and the options of the one that waits, or the old one is cancelled. One that works is not replaced: another one waits beside it. Default drop.",
    },
  ],
  replace:
    "True replaces the payload and the options of the task with this `id`, if no consumer has begun it. Default false.",
};

const taskOfFlow = {
  queue: "The queue of the task.",
  ...pick(newTask, [
    "payload",
    "encoding",
    "group",
    "priority",
    "delay",
    "lease",
    "maxAttempts",
    "resultTtl",
    "deadTtl",
    "headers",
  ]),
  delay: "How long until the task becomes pending, once nothing that it waits for is left. Default 0.",
};

const flowItem: FieldTexts = {
  ...taskOfFlow,
  ref: "The name of the item, unique in its list.",
  after: [
    "What the item waits for: refs of the same list. Default: it begins at once, in an inner flow with that.",
    {
      ref: "The item that must end first.",
      on: "`completed`: that item must complete; if it ends otherwise, this one is rejected with the reason `dependency_failed`. `ended`: it may end in any way. Default completed.",
    },
  ],
  flow: "Tasks and flows, which name only each other. The item ends when all of them have ended, as completed if all of them completed.",
};

const flowOptions = {
  id: "The name of the flow. A flow whose name is known is not added again. Default: a generated name.",
  onFailure:
    "`cancel`: if a task fails, those that have not ended are cancelled, except what waits for their ends alone. Default: only what waits for it is rejected.",
};

const settlement: FieldTexts = {
  complete: { ttl: "How long the record and the result are kept. Default: the task's resultTtl." },
  reject: { ttl: "How long the dead letter is kept. Default: the task's deadTtl." },
  result: bytes,
  encoding,
  error: "What went wrong: any JSON value; with `encoding`, bytes in base64.",
  delay: "How long until the task is pending again. Default 0.",
  backoff: [
    "A delay that depends on the number of attempts that count, instead of `delay`. True: up to 10 s after the first attempt, 30 s after the second, 90 s after the third, and so on up to 1 hour. Each delay is random, between half of that time and the whole. An object sets these times. A list has the exact delay after each attempt; its last entry applies to all further attempts.",
    {
      base: "The longest delay before the second attempt. Default 10s.",
      factor:
        "The factor by which each further attempt multiplies the longest delay, from 1 to 100. Default 3.",
      most: "The longest delay before any attempt. Default 1h.",
    },
  ],
  count: "False: the attempt does not count towards maxAttempts. Default true.",
  unstarted:
    "True hands back a task that was not started. The attempt does not count. The task goes to the front, or to its old place if it has a group or a priority. Not with `delay`, `backoff`, `error` or `queue`.",
  queue:
    "True also pauses the queue for the delay, unless it is paused for longer: for a service that refuses all requests. Default false.",
  lease: "The new lease, from now. Default: the task's own lease.",
  progress: "Progress of the work: any JSON value, at most 1 KiB. Replaces the previous one.",
};

const pull: FieldTexts = {
  max: "The most tasks to pull. Default 1.",
  lease: 'The lease of tasks that were enqueued without one. Default "5m".',
  token:
    "Identifies this pull; make a new one for each. If the pull is sent again with the same token, it gets the same tasks, without those whose lease has ended. A pull that found nothing stays empty.",
  worker:
    "The worker that pulls. It counts as a listener of the queue. When it fails, its tasks can be taken back at once.",
  wait: 'How long to wait if there is no task, at most "60s". Each second costs about 3 Redis commands. Default 0: do not wait.',
  maxBytes: "The most payload bytes in the response. One task is always included. Default 8,000,000.",
};

const filter = {
  text: "Text that the last error, or the result, contains. Of a task without an error, and of one whose last lease expired, also the text of its reason.",
  group: "Tasks of this group.",
  reason:
    "The reason for which they were rejected, or several of which one must match. `cancelled` cannot be one of several: cancelled tasks are no dead letters.",
  endedSince: "Ended at this time or later, epoch ms.",
  endedUntil: "Ended before this time, epoch ms.",
  enqueuedSince: "Enqueued at this time or later, epoch ms.",
  enqueuedUntil: "Enqueued before this time, epoch ms.",
};

const budget = (of: string) =>
  `How long the ${of} may take. Default "20s", or two fifths of the deployment's budget if that is less; at most "60s".`;

/** The bounds of one call. */
const run = {
  limit: "The most tasks. Default: all.",
  cursor: "Where to continue: the `cursor` of the previous call. The filter must be the same.",
  budget: budget("call"),
};

const redrive: FieldTexts = {
  ...filter,
  ...run,
  ids: [
    "The dead letters to redrive, instead of a filter. With `lease`, a late copy of the request does not redrive a task that has since become a dead letter again.",
    { lease: "Redrive only if the task has this lease number. Its record has it as `lease`." },
  ],
  reason:
    "The reason for which they were rejected, or several of which one must match. Default: `attempts_exhausted`, `lease_expired` and `taken_back`, so that those that a consumer rejected for good stay.",
  dryRun: "True counts the tasks that would be redriven and changes nothing. Default false.",
  rate: "The most tasks that become pending per second. The others are delayed. Default: all at once.",
};

const limits: FieldTexts = {
  maxWorking: "The most tasks that are working at the same time.",
  rate: [
    "The most tasks (`most`) that are pulled in any period of the length `per`.",
    { most: "The most pulled tasks.", per: "The length of the period, at least 1 ms." },
  ],
};

const pauseFor =
  "For how long, at least 1 ms. It does not end a pause that lasts until it is resumed. Default: until it is resumed.";

const queueChanges: FieldTexts = {
  ...limits,
  maxPending:
    "An enqueue that would exceed this number of pending tasks is refused with `queue_full`. Delayed tasks count from when they are due. Requeued and redriven tasks are never refused.",
  events: "Whether the queue publishes events of its tasks.",
  statistics:
    "Whether the queue counts events of its tasks: per minute for an hour, per five minutes for a day.",
  order:
    "`strict`: of each group, one task at a time is worked on, in the order in which they were added. The next one begins when it has ended, and not while it waits for another attempt.",
  onDead:
    "In strict order, what follows a dead letter: the next task of its group (`continue`), or none (`stop`) until it is redriven, deleted or skipped. Default continue.",
};

const newSchedule: FieldTexts = {
  cron: "A cron expression: five fields (minute, hour, day of month, month, day of week), six with seconds first, or a name such as `@daily`. Either `cron` or `every` is required.",
  timeZone: 'The IANA time zone of `cron`, such as `Europe/Berlin`. Default "UTC".',
  every: "The time from one occurrence to the next, at least 1 s. Either `cron` or `every` is required.",
  from: "With `every`: the first occurrence, epoch ms. If it is in the past, the schedule starts with the next occurrence counted from it. Default: one interval from now.",
  until: "The end of the schedule, epoch ms. No occurrence is later.",
  missed: "Which occurrences are enqueued if no sweep ran in time: only the last, or all. Default last.",
  paused: "True pauses the schedule, false resumes it. Default: unchanged. A new schedule is not paused.",
  ...pick(newTask, [
    "payload",
    "encoding",
    "lease",
    "maxAttempts",
    "resultTtl",
    "deadTtl",
    "group",
    "priority",
    "headers",
  ]),
};

const heartbeat: FieldTexts = {
  worker: "As in pull. It replaces what the worker last sent.",
  lease:
    "The new lease of all its tasks, from now. Default: for each task the lease with which it was pulled.",
  receipts:
    "Receipts of the leases to extend. A lease that was pulled without a worker is extended by any worker with its receipt. A lease of another worker or incarnation is not extended, and its id is in `lost`. Default: all leases that the worker pulled, including those of a pull whose response was lost.",
};

const worker: FieldTexts = {
  name: "The name of the worker.",
  incarnation: "Identifies this process among those with the same name. Use a new one for each start.",
  node: "The machine that it runs on, for display.",
  pid: "Its process id on that machine.",
  silentAfter:
    "How long without a pull or heartbeat until a sweep takes its tasks back. Default: never; its leases expire one by one.",
  goneAfter:
    "How long without a pull or heartbeat until lists call it gone. It keeps its tasks until their leases expire.",
};

const declaration: FieldTexts = {
  settings: [
    "The settings. One that the previous declaration had and this one does not is removed.",
    queueChanges,
  ],
  partitions:
    "How many partitions the queue has. If the previous declaration had a number and this one does not, it is 1.",
  schedules: [
    "The schedules. One that the previous declaration had and this one does not is removed.",
    newSchedule,
  ],
  defaults: [
    "The defaults of the tasks of its schedules.",
    pick(newTask, ["lease", "maxAttempts", "resultTtl", "deadTtl", "delay", "unique"]),
  ],
};

const endpoint: FieldTexts = {
  url: "Where events are delivered, by POST. It must have a public host.",
  types:
    'The types of the events that it gets: names, or patterns in which `*` is one word and `#` any number. Default: `["#"]`, all.',
  headers: "Headers of each delivery. Responses have only their names.",
  rate: ["The most deliveries in a period.", { most: "1 to 1,000,000.", per: "The length of the period." }],
  maxWorking: "The most deliveries at the same time.",
  order: "`strict`: one delivery at a time, in the order of the events.",
  description: "A text for people, at most 500 characters.",
};

const secret = "What signs deliveries: `whsec_` and 24 to 64 bytes in base64. Default: a generated one.";

/** The query of a list. */
const page = (size: string): FieldTexts => ({
  cursor: "Where to continue: the `cursor` of the previous page.",
  size: `${size} per page. Default 100.`,
});

const texts = new Map<GenericSchema, FieldTexts>([
  [tasks.newTask, newTask],
  [tasks.newSingleTask, newSingleTask],
  [tasks.settlement, settlement],
  [tasks.pull, pull],
  [tasks.cancel, { lease: "Cancel only if the task is under the lease with this number." }],
  [
    taskOperation.deadLettersQuery,
    { ...filter, cursor: "Where to count on: the `cursor` of the previous answer." },
  ],
  [
    taskOperation.cancelMany,
    {
      ids: [
        "The tasks to cancel.",
        { lease: "Cancel only if the task is under the lease with this number." },
      ],
    },
  ],
  [
    search.searchQuery,
    {
      ...page("At most about this many tasks"),
      text: "What the tasks have in their id, payload, error or result, case-sensitive.",
      queues: "In which queues: a name, or a pattern such as `emails-*`. Default: all of the token.",
      state: "Only tasks in this state. Default: all states.",
      size: "At most about this many tasks per page. Default 20.",
    },
  ],
  [taskOperation.deleteMany, { ids: "The tasks to delete." }],
  [taskOperation.redrive, redrive],
  [
    taskOperation.purge,
    {
      ...filter,
      ...run,
      state:
        "The state of the tasks. Pending, delayed and blocked tasks are cancelled. The records of completed and rejected tasks are deleted.",
    },
  ],
  [
    taskOperation.tasksQuery,
    {
      ...filter,
      ...page("At most this many tasks"),
      state: "The state of the tasks.",
      payloads:
        "True includes payloads, at most 8 MB in one page. `preview` includes the first 200 characters of each. Default false.",
      reverse: "True lists the last ones first: dead letters with the newest first. Default false.",
    },
  ],
  [flows.newFlow, { ...flowOptions, tasks: "In any order." }],
  [
    flows.newBatch,
    {
      ...flowOptions,
      tasks: [
        "They do not wait for each other.",
        { ...taskOfFlow, ref: "Default: its place in the list, from 1." },
      ],
      completed: [
        "A task that begins when all tasks have ended, if all completed. Else it is rejected with the reason `dependency_failed`.",
        taskOfFlow,
      ],
      failed: [
        "A task that begins then if one of them did not complete. Else it ends as cancelled.",
        taskOfFlow,
      ],
      ended: ["A task that begins then in any case.", taskOfFlow],
    },
  ],
  [
    flows.newBefore,
    {
      receipt: "Proof of the lease of the task that adds them.",
      ref: "What waits for that task: a task or an inner flow; or the inner flow or `batch` that it is in.",
      tasks: "As of a flow.",
    },
  ],
  [flows.flowTask, flowItem],
  [flows.innerFlow, flowItem],
  [topics.preview, { headers: "Those of the message. Default: none." }],
  [
    topics.subscription,
    {
      filter: [
        "Which messages the queue gets: those that meet the condition, or all conditions of the list. Default: all messages.",
        {
          header: "The name of a header of the message.",
          in: "The header must be one of these texts.",
          notIn: "The header must be absent, or none of these texts.",
          exists: "Whether the header must be there, or absent.",
        },
      ],
      since:
        "What a new subscription also gets of what the topic has kept: from this instant on, epoch ms, or of this time until now.",
    },
  ],
  [
    topics.replay,
    {
      since: "What to replay: from this instant on, epoch ms, or of this time until now.",
      budget: budget("call"),
    },
  ],
  [queues.queueChanges, queueChanges],
  [queues.pause, { for: pauseFor }],
  [
    queues.groupChanges,
    {
      paused: [
        "True delivers no task of the group until it is unset; `{for}` for that time.",
        { for: pauseFor },
      ],
      weight: "The group's share of the queue relative to other groups. Default 1.",
      ...limits,
      order: "As of the queue; `none` for a group without an order. Default: that of the queue.",
      onDead: "As of the queue. Default: that of the queue.",
    },
  ],
  [
    queues.queuesQuery,
    {
      ...page("About this many queues"),
      counts: "True counts the tasks of each queue, as `GET /v1/queues/{queue}` does. Default false.",
    },
  ],
  [queues.statisticsQuery, { history: "True includes the last 24 hours by five minutes. Default false." }],
  [
    queues.deleteQueueQuery,
    { force: "True deletes the queue even if tasks are working. Their holders get `lease_lost`." },
  ],
  [queues.groupsQuery, page("At most this many groups")],
  [partitions.partitionCount, { count: "How many partitions new tasks are to go to." }],
  [schedules.newSchedule, newSchedule],
  [schedules.schedulesQuery, page("About this many schedules")],
  [workers.worker, worker],
  [workers.heartbeat, heartbeat],
  [workers.workersQuery, page("About this many workers")],
  [workers.forgetQuery, { incarnation: "Which one of this name. Default: the one without an incarnation." }],
  [
    workers.fail,
    {
      incarnation:
        "Fails only this incarnation; null is the one without an incarnation. Default: all with this name.",
      limit: "The most tasks that are taken back in this call. Default 1,000.",
    },
  ],
  [endpoints.newEndpoint, { ...endpoint, id: "Its id. Default: a generated one.", secret }],
  [endpoints.endpointChanges, endpoint],
  [endpoints.endpointsQuery, page("At most this many endpoints")],
  [endpoints.rotation, { secret, keep: 'For how long the secret before signs too. Default "24h".' }],
  [
    endpoints.replay,
    {
      since: "Deliveries that failed for good at or after this instant, epoch ms.",
      until: "Deliveries that did so before this instant, epoch ms. Default: all.",
      limit: "The most deliveries in all. Default: all.",
      rate: "How many become pending in a second, 0.001 to 1,000,000; the others are delayed. Default: all at once.",
      budget: budget("replay"),
      cursor: "Where to continue: the `cursor` of the previous response.",
      dryRun: "True counts the deliveries, and changes nothing. Default false.",
    },
  ],
  [
    endpoints.newEvent,
    {
      type: "Such as `orders.paid`: words with dots between.",
      id: "An event with the same id is sent once. At most 80 characters. Default: a generated one.",
      payload: `The body of each delivery. ${bytes}`,
      encoding,
    },
  ],
  [sweeps.sweep, { budget: budget("sweep") }],
  [
    sweeps.deepSweep,
    {
      queue: "Only this queue, registered or not. Default: all registered queues.",
      cursor: "Where to continue: the `cursor` of the previous response.",
      examples: "The most ids that are listed for each fault in each queue. Default 10.",
      budget: budget("sweep"),
    },
  ],
  [declarations.declaration, declaration],
  [
    watch.taskQuery,
    {
      wait: 'How long to wait for the end of the task, or how long a stream lasts; at most "60s". Default: do not wait, and 60 seconds for a stream.',
      payload:
        "True includes the payload; the token needs the scope `view`. A stream has no payload. Default false.",
    },
  ],
  [watch.eventsQuery, { wait: 'How long the stream lasts, at most "5m". Default "5m".' }],
  [overviewQuery, { queues: "The names of 1 to 100 queues, with commas between, each once." }],
  [metricsQuery, { queues: matching }],
  [
    healthQuery,
    {
      queues: matching,
      after:
        'How long a queue may be stuck, and how long a dead letter is new, 1 second to 59 minutes. Default "10m".',
      fail: "Respond 503 `unhealthy` if the status is as bad as this, or worse: for monitors that look at the status code alone.",
    },
  ],
]);

/** The JSON Schema of a request schema, with what its fields mean. */
export function withFieldTexts(schema: GenericSchema, json: JsonSchema): JsonSchema {
  return described(json, texts.get(schema) ?? {});
}

/** A schema whose fields have these texts: of an object, of the items of a list, or of alternatives. */
function described(schema: JsonSchema, of: FieldTexts): JsonSchema {
  const all = (schemas: readonly JsonSchema[]) => schemas.map((one) => described(one, of));
  const { properties, items, anyOf, oneOf } = schema;
  // An alternative may have texts of its own, by its outcome.
  const own = of[String(properties?.["outcome"]?.const)];
  const named = { ...of, ...(isTexts(own) && own) };
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, field]) => [name, fieldWith(named[name], field)]),
      ),
    }),
    ...(items && { items: described(items, of) }),
    ...(anyOf && { anyOf: all(anyOf) }),
    ...(oneOf && { oneOf: all(oneOf) }),
  };
}

const isTexts = (given: FieldTexts[string] | undefined): given is FieldTexts =>
  typeof given === "object" && !Array.isArray(given);

function fieldWith(given: FieldTexts[string] | undefined, field: JsonSchema): JsonSchema {
  if (given === undefined) return field;
  if (typeof given === "string") return { ...field, description: given };
  const [text, within] = given as readonly [string, FieldTexts];
  return { ...described(field, within), description: text };
}
