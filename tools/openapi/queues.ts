import { deleteQueueQuery, queuesQuery } from "../../src/http/schemas/queues.ts";
import { queueEvents } from "../../src/queue/tasks/events.ts";
import { exampleTime, type OperationText } from "./operation-text.ts";

const unlimited = { maxWorking: null, rate: null };
const settings = { paused: false, ...unlimited, maxPending: 10_000, events: false, statistics: true };
const none = Object.fromEntries(queueEvents.map((event) => [event, 0]));
const minute = { startsAt: exampleTime, ...none, enqueued: 30, dequeued: 28, completed: 27, requeued: 1 };

export const queues: readonly OperationText[] = [
  {
    method: "get",
    path: "/v1/queues",
    operationId: "listQueues",
    tag: "queues",
    summary: "List the queues",
    description:
      "Only those that the token is for. A page may be short, or empty, with more to come: follow `cursor`.",
    scopes: ["admin"],
    query: queuesQuery,
    answers: {
      200: {
        description: "A page of queues.",
        schemas: ["Queues"],
        examples: { some: { queues: [{ name: "emails", seenAt: exampleTime }], cursor: null } },
      },
    },
  },
  {
    method: "get",
    path: "/v1/queues/{queue}",
    operationId: "getQueue",
    tag: "queues",
    summary: "Counts of a queue",
    description: "A queue that nothing was enqueued to counts 0 everywhere.",
    scopes: ["admin"],
    answers: {
      200: {
        description: "The counts.",
        schemas: ["Queue"],
        examples: {
          some: {
            queue: "emails",
            pending: 120,
            delayed: 7,
            working: 10,
            rejected: 2,
            oldestAge: 4_300,
            nextDueAt: exampleTime + 30_000,
            broken: 0,
            workers: 2,
            paused: false,
          },
        },
      },
    },
  },
  {
    method: "delete",
    path: "/v1/queues/{queue}",
    operationId: "deleteQueue",
    tag: "queues",
    summary: "Delete a queue with all that belongs to it",
    description:
      "Tasks, results, dead letters, settings and its place in the list. Refused while tasks are being worked on, unless `force=true`. Deleting what is not there is no fault, and an enqueue begins the queue anew.",
    scopes: ["admin"],
    query: deleteQueueQuery,
    answers: {
      200: {
        description: "It is gone.",
        schemas: ["QueueDeleted"],
        examples: { gone: { queue: "emails", deleted: true } },
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
      "From now on every pull gives nothing and says `paused`, until the queue is resumed. Tasks that are being worked on are settled as before, and enqueueing goes on.",
    scopes: ["admin"],
    answers: {
      200: {
        description: "The settings as they now are.",
        schemas: ["QueueSettings"],
        examples: { paused: { ...settings, paused: true } },
      },
    },
  },
  {
    method: "post",
    path: "/v1/queues/{queue}/resume",
    operationId: "resumeQueue",
    tag: "queues",
    summary: "Resume a paused queue",
    description: "Pulls give tasks again, at once.",
    scopes: ["admin"],
    answers: {
      200: {
        description: "The settings as they now are.",
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
    summary: "Settings of a queue",
    description: "They stand in Redis, so everything that works on the queue heeds them.",
    scopes: ["admin"],
    answers: {
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
      "What the body does not name stays as it is; null unsets. Limits hold from the next pull on. Producers heed `maxPending`, `events` and `statistics` within a minute.",
    scopes: ["admin"],
    body: {
      schemas: ["QueueChanges"],
      required: true,
      examples: {
        limits: { maxWorking: 50, rate: { max: 100, per: "1m" }, maxPending: 10_000 },
        "no limit any more": { maxWorking: null, rate: null },
        "counts and events": { statistics: true, events: true },
      },
    },
    answers: {
      200: {
        description: "The settings as they now are.",
        schemas: ["QueueSettings"],
        examples: { some: { ...settings, maxWorking: 50, rate: { max: 100, per: 60_000 } } },
      },
    },
  },
  {
    method: "get",
    path: "/v1/queues/{queue}/groups/{group}",
    operationId: "getGroup",
    tag: "queues",
    summary: "Settings and counts of a group",
    description: "A group that nobody has set or used has weight 1, no limits, and no tasks.",
    scopes: ["admin"],
    answers: {
      200: {
        description: "The group.",
        schemas: ["Group"],
        examples: {
          some: {
            queue: "emails",
            group: "tenant-7",
            weight: 2,
            ...unlimited,
            ready: 40,
            working: 5,
            limited: 0,
          },
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
      "What the body does not name stays as it is; null unsets. A group at its limit does not hold up the others.",
    scopes: ["admin"],
    body: {
      schemas: ["GroupChanges"],
      required: true,
      examples: { "a double share": { weight: 2 }, "a limit": { rate: { max: 10, per: "1s" } } },
    },
    answers: {
      200: {
        description: "The settings as they now are.",
        schemas: ["GroupSettings"],
        examples: { some: { weight: 2, ...unlimited } },
      },
    },
  },
  {
    method: "get",
    path: "/v1/queues/{queue}/statistics",
    operationId: "getStatistics",
    tag: "queues",
    summary: "What happened in the last hour",
    description:
      "How many tasks each event befell, by the minute, where the queue's setting `statistics` is on; and the mean of late, to scale by.",
    scopes: ["admin"],
    answers: {
      200: {
        description: "The counts.",
        schemas: ["Statistics"],
        examples: {
          some: {
            queue: "emails",
            on: true,
            minutes: [minute],
            perMinute: { ...none, enqueued: 29.4, dequeued: 28.2, completed: 27.8, requeued: 0.4 },
          },
        },
      },
    },
  },
];
