import {
  deleteQueueQuery,
  groupsQuery,
  queuesQuery,
  statisticsQuery,
} from "../../src/http/request-schemas/queues.ts";
import { queueEvents } from "../../src/kernel/tasks/events.ts";
import { exampleTime, type OperationText } from "./operation-text.ts";

const unlimited = { maxWorking: null, rate: null };
const running = { paused: false, pausedUntil: null };
export const settings = {
  ...running,
  ...unlimited,
  maxPending: 10_000,
  events: false,
  statistics: true,
  order: null,
  onDead: "continue",
};
const ofQueue = { order: null, onDead: null };
export const none = Object.fromEntries(queueEvents.map((event) => [event, 0]));
export const period = {
  ...none,
  enqueued: 30,
  dequeued: 28,
  completed: 27,
  requeued: 1,
  attempts: 28,
  takenBack: 0,
  waits: { count: 27, total: 8_400, classes: [0, 2, 9, 12, 4, 0, 0, 0, 0, 0, 0, 0, 0] },
  runs: { count: 28, total: 3_900, classes: [0, 0, 16, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0] },
  calls: { enqueue: 30, dequeue: 6, settle: 6, other: 0 },
};
const exampleGroup = {
  queue: "emails",
  group: "tenant-7",
  ...running,
  weight: 2,
  ...unlimited,
  ...ofQueue,
  ready: 40,
  working: 5,
  limited: 0,
  inLine: 0,
  stoppedBy: null,
};
const minute = { startsAt: exampleTime, ...period };
export const counts = {
  pending: 120,
  delayed: 7,
  working: 10,
  blocked: 3,
  rejected: 2,
  oldestAge: 4_300,
  nextDueAt: exampleTime + 30_000,
  broken: 0,
  workers: 2,
  ...running,
  stoppedGroups: 0,
};

export const queues: readonly OperationText[] = [
  {
    method: "get",
    path: "/v1/queues",
    operationId: "listQueues",
    tag: "queues",
    summary: "List the queues",
    description:
      "Lists the queues for which the token has the scope `view`. A page can be short or empty although more follow: continue with `cursor`. With `counts=true`, each queue of the page costs 11 to 13 Redis commands more, and 3 more if its next task is cancelled; all of them are read in one request.",
    scopes: ["view"],
    query: queuesQuery,
    responses: {
      200: {
        description: "A page of queues.",
        schemas: ["Queues"],
        examples: {
          some: { queues: [{ name: "emails", seenAt: exampleTime }], cursor: null },
          "with counts": { queues: [{ name: "emails", seenAt: exampleTime, counts }], cursor: null },
        },
      },
    },
  },
  {
    method: "get",
    path: "/v1/queues/{queue}",
    operationId: "getQueue",
    tag: "queues",
    summary: "Get the counts of a queue",
    description: "For a queue that does not exist, all counts are 0.",
    scopes: ["view"],
    responses: {
      200: {
        description: "The counts.",
        schemas: ["Queue"],
        examples: {
          some: { queue: "emails", ...counts },
        },
      },
    },
  },
  {
    method: "delete",
    path: "/v1/queues/{queue}",
    operationId: "deleteQueue",
    tag: "queues",
    summary: "Delete a queue and everything in it",
    description:
      "Deletes tasks, results, dead letters, settings and schedules. It is refused while tasks are working, unless `force=true`. Deleting a queue that does not exist succeeds. A later enqueue creates the queue again.",
    scopes: ["admin"],
    query: deleteQueueQuery,
    responses: {
      200: {
        description: "The queue is deleted.",
        schemas: ["QueueDeleted"],
        examples: { deleted: { queue: "emails", deleted: true } },
      },
    },
    problems: ["still_working"],
  },
  {
    method: "post",
    path: "/v1/queues/{queue}/pause",
    operationId: "pauseQueue",
    tag: "queues",
    summary: "Pause a queue",
    description:
      "Pulls return no tasks and `paused: true` until the queue is resumed, or for a time. Working tasks can be settled, and tasks can be enqueued.",
    scopes: ["admin"],
    body: {
      schemas: ["Pause"],
      required: false,
      examples: { "for five minutes": { for: "5m" } },
    },
    responses: {
      200: {
        description: "The new settings.",
        schemas: ["QueueSettings"],
        examples: {
          paused: { ...settings, paused: true },
          "for a time": { ...settings, paused: true, pausedUntil: exampleTime + 300_000 },
        },
      },
    },
  },
  {
    method: "post",
    path: "/v1/queues/{queue}/resume",
    operationId: "resumeQueue",
    tag: "queues",
    summary: "Resume a paused queue",
    description: "Pulls return tasks again at once.",
    scopes: ["admin"],
    responses: {
      200: {
        description: "The new settings.",
        schemas: ["QueueSettings"],
        examples: { running: settings },
      },
    },
  },
  {
    method: "get",
    path: "/v1/queues/{queue}/settings",
    operationId: "getSettings",
    tag: "queues",
    summary: "Get the settings of a queue",
    description: "The settings are stored in Redis and apply to every producer and consumer of the queue.",
    scopes: ["view"],
    responses: {
      200: { description: "The settings.", schemas: ["QueueSettings"], examples: { some: settings } },
    },
  },
  {
    method: "patch",
    path: "/v1/queues/{queue}/settings",
    operationId: "configureQueue",
    tag: "queues",
    summary: "Change settings of a queue",
    description:
      "Fields that are left out keep their value; null removes a setting. Limits apply from the next pull on. Producers apply `maxPending`, `events` and `statistics` within a minute.",
    scopes: ["admin"],
    body: {
      schemas: ["QueueChanges"],
      required: true,
      examples: {
        limits: { maxWorking: 50, rate: { most: 100, per: "1m" }, maxPending: 10_000 },
        "without limits": { maxWorking: null, rate: null },
        "counts and events": { statistics: true, events: true },
        "a strict order": { order: "strict", onDead: "stop" },
      },
    },
    responses: {
      200: {
        description: "The new settings.",
        schemas: ["QueueSettings"],
        examples: { some: { ...settings, maxWorking: 50, rate: { most: 100, per: 60_000 } } },
      },
    },
    problems: ["unsupported"],
  },
  {
    method: "get",
    path: "/v1/queues/{queue}/groups",
    operationId: "listGroups",
    tag: "queues",
    summary: "List the groups that have waiting tasks",
    description:
      "Groups with tasks that a pull may return come first, by name. Those all of whose waiting tasks wait for limits follow. Groups with only working or delayed tasks are not listed. A page can be short or empty although more follow: continue with `cursor`.",
    scopes: ["view"],
    query: groupsQuery,
    responses: {
      200: {
        description: "A page of groups.",
        schemas: ["Groups"],
        examples: { some: { groups: [exampleGroup], cursor: null } },
      },
    },
  },
  {
    method: "get",
    path: "/v1/queues/{queue}/stopped-groups",
    operationId: "listStoppedGroups",
    tag: "queues",
    summary: "List the groups that a dead letter has stopped",
    description:
      'Of a queue or groups in strict order with `onDead: "stop"`. A group goes on when its dead letter is redriven, deleted or skipped.',
    scopes: ["view"],
    query: groupsQuery,
    responses: {
      200: {
        description: "A page of groups, by name.",
        schemas: ["StoppedGroups"],
        examples: {
          some: { total: 1, groups: [{ group: "account-7", id: "entry-17" }], cursor: null },
        },
      },
    },
  },
  {
    method: "post",
    path: "/v1/queues/{queue}/tasks/{id}/skip",
    operationId: "skipTask",
    tag: "tasks",
    summary: "Let the group of a dead letter go on",
    description:
      "The group that the dead letter has stopped goes on with its next task. The dead letter stays. If it stops no group, nothing changes.",
    scopes: ["admin"],
    responses: {
      200: {
        description: "It stops no group now.",
        schemas: ["Skipped"],
        examples: { skipped: { id: "entry-17", skipped: true } },
      },
    },
    problems: ["not_found", "not_dead_letter"],
  },
  {
    method: "get",
    path: "/v1/queues/{queue}/groups/{group}",
    operationId: "getGroup",
    tag: "queues",
    summary: "Get the settings and counts of a group",
    description: "An unused group has weight 1, no limits and no tasks.",
    scopes: ["view"],
    responses: {
      200: {
        description: "The group.",
        schemas: ["Group"],
        examples: {
          some: exampleGroup,
        },
      },
    },
  },
  {
    method: "patch",
    path: "/v1/queues/{queue}/groups/{group}",
    operationId: "configureGroup",
    tag: "queues",
    summary: "Change settings of a group",
    description:
      "Fields that are left out keep their value; null removes a setting. A group at its limit does not delay other groups.",
    scopes: ["admin"],
    body: {
      schemas: ["GroupChanges"],
      required: true,
      examples: {
        "a double share": { weight: 2 },
        "a limit": { rate: { most: 10, per: "1s" } },
        "a pause of five minutes": { paused: { for: "5m" } },
      },
    },
    responses: {
      200: {
        description: "The new settings.",
        schemas: ["GroupSettings"],
        examples: { some: { ...running, weight: 2, ...unlimited, ...ofQueue } },
      },
    },
    problems: ["unsupported"],
  },
  {
    method: "get",
    path: "/v1/queues/{queue}/statistics",
    operationId: "getStatistics",
    tag: "queues",
    summary: "Get the events of the last hour, per minute",
    description:
      "The number of tasks per event and minute, and the mean of the last five complete minutes, for example to scale consumers. Also how long tasks waited and ran, and the sums of all minutes. The queue counts if its setting `statistics` is on. With `history=true` also the last 24 hours by five minutes.",
    scopes: ["view"],
    query: statisticsQuery,
    responses: {
      200: {
        description: "The counts.",
        schemas: ["Statistics"],
        examples: {
          some: {
            queue: "emails",
            on: true,
            minutes: [minute],
            perMinute: { ...none, enqueued: 29.4, dequeued: 28.2, completed: 27.8, requeued: 0.4 },
            totals: { since: exampleTime, ...period },
          },
        },
      },
    },
  },
];
