import type { GenericSchema } from "valibot";
import type { Header, Parameter, Reference } from "../../src/http/docs/openapi-document.ts";
import * as aboutReplies from "../../src/http/response-schemas/about.ts";
import * as declarationReplies from "../../src/http/response-schemas/declaration.ts";
import * as diagnosticsReplies from "../../src/http/response-schemas/diagnostics.ts";
import * as sweepReplies from "../../src/http/response-schemas/sweep.ts";
import * as endpointReplies from "../../src/http/response-schemas/endpoints.ts";
import * as flowReplies from "../../src/http/response-schemas/flows.ts";
import * as healthReplies from "../../src/http/response-schemas/health.ts";
import * as metricsReplies from "../../src/http/response-schemas/metrics.ts";
import * as overviewReplies from "../../src/http/response-schemas/overview.ts";
import * as partitionReplies from "../../src/http/response-schemas/partitions.ts";
import * as queueReplies from "../../src/http/response-schemas/queues.ts";
import * as scheduleReplies from "../../src/http/response-schemas/schedules.ts";
import * as searchReplies from "../../src/http/response-schemas/search.ts";
import * as taskOperationReplies from "../../src/http/response-schemas/task-operation.ts";
import * as taskReplies from "../../src/http/response-schemas/tasks.ts";
import * as topicReplies from "../../src/http/response-schemas/topics.ts";
import * as workerReplies from "../../src/http/response-schemas/workers.ts";
import * as declaration from "../../src/http/request-schemas/declaration.ts";
import * as endpoints from "../../src/http/request-schemas/endpoints.ts";
import * as flows from "../../src/http/request-schemas/flows.ts";
import * as sweep from "../../src/http/request-schemas/sweep.ts";
import * as partitions from "../../src/http/request-schemas/partitions.ts";
import * as queues from "../../src/http/request-schemas/queues.ts";
import * as schedules from "../../src/http/request-schemas/schedules.ts";
import * as taskOperation from "../../src/http/request-schemas/task-operation.ts";
import * as tasks from "../../src/http/request-schemas/tasks.ts";
import * as topics from "../../src/http/request-schemas/topics.ts";
import * as durations from "../../src/http/request-schemas/durations.ts";
import { name, queueName, taskId } from "../../src/http/request-schemas/values.ts";
import * as words from "../../src/http/request-schemas/words.ts";
import * as workers from "../../src/http/request-schemas/workers.ts";

/** The schemas of the document, by name. */
export const named: Readonly<Record<string, GenericSchema>> = {
  NewTask: tasks.newSingleTask,
  NewTaskOfMany: tasks.newTask,
  NewTasks: tasks.newTasks,
  Pull: tasks.pull,
  Settlement: tasks.settlement,
  Settle: tasks.settle,
  Cancel: tasks.cancel,
  CancelMany: taskOperation.cancelMany,
  DeleteMany: taskOperation.deleteMany,
  Redrive: taskOperation.redrive,
  Purge: taskOperation.purge,
  NewFlow: flows.newFlow,
  NewBatch: flows.newBatch,
  NewBefore: flows.newBefore,
  FlowItem: flows.flowItem,
  FlowTask: flows.flowTask,
  InnerFlow: flows.innerFlow,
  NewMessages: topics.newMessages,
  PreviewPublish: topics.preview,
  Subscription: topics.subscription,
  ReplayTopic: topics.replay,
  NewEndpoint: endpoints.newEndpoint,
  EndpointChanges: endpoints.endpointChanges,
  Rotation: endpoints.rotation,
  Replay: endpoints.replay,
  NewEvent: endpoints.newEvent,
  QueueChanges: queues.queueChanges,
  Pause: queues.pause,
  GroupChanges: queues.groupChanges,
  PartitionCount: partitions.partitionCount,
  NewSchedule: schedules.newSchedule,
  Heartbeat: workers.heartbeat,
  FailWorker: workers.fail,
  Sweep: sweep.sweep,
  DeepSweep: sweep.deepSweep,
  Duration: durations.duration,
  PositiveDuration: durations.positiveDuration,
  Interval: durations.interval,
  Wait: durations.wait,
  Budget: durations.budget,
  QueueName: queueName,
  TopicName: words.topicName,
  TopicPattern: words.topicPattern,
  TaskId: taskId,
  Name: name,
  Worker: workers.worker,
  Enqueued: taskReplies.enqueued,
  EnqueuedOne: taskReplies.enqueuedOne,
  EnqueuedMany: taskReplies.enqueuedMany,
  KeyForgotten: taskReplies.keyForgotten,
  Pulled: taskReplies.pulled,
  Settled: taskReplies.settled,
  Task: taskReplies.task,
  Cancelled: taskReplies.cancelled,
  ListedTasks: taskOperationReplies.listedPage,
  TaskDeleted: taskOperationReplies.taskDeleted,
  DeadLetters: taskOperationReplies.deadLetters,
  FoundTasks: searchReplies.found,
  CancelledMany: taskOperationReplies.cancelledMany,
  DeletedMany: taskOperationReplies.deletedMany,
  Redriven: taskOperationReplies.redriven,
  Purged: taskOperationReplies.purged,
  FlowAdded: flowReplies.added,
  Flow: flowReplies.flow,
  FlowCancelled: flowReplies.cancelled,
  FlowRedriven: flowReplies.redriven,
  Before: flowReplies.before,
  AddedBefore: flowReplies.addedBefore,
  Published: topicReplies.publishedOne,
  PublishedMany: topicReplies.publishedMany,
  Preview: topicReplies.preview,
  Topics: topicReplies.topics,
  Topic: topicReplies.topic,
  Subscribed: topicReplies.subscribed,
  Unsubscribed: topicReplies.unsubscribed,
  TopicReplayed: topicReplies.replay,
  Endpoint: endpointReplies.endpoint,
  Endpoints: endpointReplies.endpoints,
  EndpointWithSecret: endpointReplies.endpointWithSecret,
  EndpointAdded: endpointReplies.endpointAdded,
  EndpointRemoved: endpointReplies.endpointRemoved,
  Replayed: endpointReplies.replayed,
  EventSent: endpointReplies.sent,
  Queues: queueReplies.queues,
  Queue: queueReplies.queue,
  Load: metricsReplies.load,
  Overviews: overviewReplies.overviews,
  QueuesHealth: healthReplies.health,
  Declaration: declaration.declaration,
  Declared: declarationReplies.declared,
  Token: diagnosticsReplies.token,
  Diagnostics: diagnosticsReplies.database,
  QueueDiagnostics: diagnosticsReplies.queue,
  QueueDeleted: queueReplies.queueDeleted,
  QueueSettings: queueReplies.queueSettings,
  GroupSettings: queueReplies.groupSettings,
  Group: queueReplies.group,
  Groups: queueReplies.groups,
  StoppedGroups: queueReplies.stoppedGroups,
  Skipped: queueReplies.skipped,
  Partitions: partitionReplies.queuePartitions,
  Statistics: queueReplies.statistics,
  Workers: workerReplies.workers,
  HeartbeatReply: workerReplies.heartbeat,
  WorkerFailed: workerReplies.failed,
  WorkerForgotten: workerReplies.forgotten,
  ListedSchedule: scheduleReplies.listedSchedule,
  SchedulePut: scheduleReplies.schedulePut,
  Schedule: scheduleReplies.schedule,
  Schedules: scheduleReplies.schedules,
  ScheduleResumed: scheduleReplies.scheduleResumed,
  ScheduleRemoved: scheduleReplies.scheduleRemoved,
  Swept: sweepReplies.swept,
  DeepSwept: sweepReplies.deepSwept,
  Health: aboutReplies.health,
  Problem: aboutReplies.problem,
};

const unsetNote = "Fields that are left out keep their value. null removes the setting.";

/** Descriptions of schemas that have none of their own. */
export const meanings: Readonly<Record<string, string>> = {
  QueueChanges: unsetNote,
  GroupChanges: unsetNote,
  EndpointChanges: unsetNote,
  Duration: 'Milliseconds, or a text: `"250ms"`, `"30s"`, `"5m"`, `"2h"`, `"7d"`. At most ten years.',
  PositiveDuration: "As Duration, from 1 ms to ten years.",
  Interval: "As Duration, from 1 second to ten years.",
  Wait: "As Duration, at most 1 minute.",
  Budget: "As Duration, from 1 ms to 1 minute.",
  QueueName: "The name of a queue.",
  TopicName: "The name of a topic: words with dots between.",
  TopicPattern: "The name of a topic, or a pattern of names: `*` is one word, `#` any number of words.",
  TaskId: "Visible ASCII characters, the first one a letter or digit.",
  Name: "The name of a group, a worker, a schedule or a key. It has the form of an id.",
};

export const ref = (
  kind: "schemas" | "examples" | "parameters" | "headers" | "responses",
  name: string,
): Reference => ({
  $ref: `#/components/${kind}/${name}`,
});

export const parameters: Record<string, Parameter> = {
  queue: {
    name: "queue",
    in: "path",
    required: true,
    description: "Name of the queue.",
    schema: ref("schemas", "QueueName"),
    example: "emails",
  },
  id: {
    name: "id",
    in: "path",
    required: true,
    description: "Id of the task, percent-encoded.",
    schema: ref("schemas", "TaskId"),
    example: "welcome-17",
  },
  flow: {
    name: "flow",
    in: "path",
    required: true,
    description: "Id of the flow, percent-encoded.",
    schema: { type: "string" },
    example: "nightly@imports",
  },
  topic: {
    name: "topic",
    in: "path",
    required: true,
    description: "Name of the topic.",
    schema: ref("schemas", "TopicName"),
    example: "orders",
  },
  pattern: {
    name: "pattern",
    in: "path",
    required: true,
    description: "Name of the topic, or a pattern of topics, percent-encoded.",
    schema: ref("schemas", "TopicPattern"),
    example: "orders.*",
  },
  group: {
    name: "group",
    in: "path",
    required: true,
    description: "Name of the group, percent-encoded.",
    schema: ref("schemas", "Name"),
    example: "tenant-7",
  },
  name: {
    name: "name",
    in: "path",
    required: true,
    description: "Name of the worker, percent-encoded.",
    schema: ref("schemas", "Name"),
    example: "mailer-1",
  },
  key: {
    name: "key",
    in: "path",
    required: true,
    description: "The key, percent-encoded.",
    schema: ref("schemas", "Name"),
    example: "page-7",
  },
  endpoint: {
    name: "endpoint",
    in: "path",
    required: true,
    description: "Id of the endpoint.",
    schema: { type: "string", pattern: "^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$" },
    example: "acme",
  },
  schedule: {
    name: "schedule",
    in: "path",
    required: true,
    description: "Name of the schedule, percent-encoded; at most 100 characters.",
    schema: ref("schemas", "Name"),
    example: "nightly",
  },
  "Last-Event-ID": {
    name: "Last-Event-ID",
    in: "header",
    required: false,
    description:
      "For a stream: the last `id` of an earlier stream, a number. The stream continues after it. Browsers send it by themselves. Any other value is ignored.",
    schema: { type: "string" },
  },
  traceparent: {
    name: "traceparent",
    in: "header",
    required: false,
    description:
      "The trace that the tasks continue, as W3C Trace Context specifies; `tracestate` and `baggage` may accompany it. Without tracing in the deployment, these headers are ignored. An invalid one is ignored too.",
    schema: { type: "string", pattern: "^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$" },
    example: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  },
  "Idempotency-Key": {
    name: "Idempotency-Key",
    in: "header",
    required: false,
    description:
      "A key of your own: 1 to 255 visible ASCII characters, a new one for each new request. An enqueue is remembered as long as its tasks are known. The same key with other tasks is refused with `idempotency_key_reused`. A pull with a used key gets the same tasks again, without those whose lease has ended; if the first pull found nothing, it stays empty. For each queue, the last 16 requests that pause, resume, configure or delete it, or change its schedules, are remembered for five minutes: a second request with the same key changes nothing, whatever its body. Settlements are identified by their receipts; the key only keeps a late copy from replacing newer progress. Other requests ignore the key: a copy of a sweep, redrive or purge continues where the first stopped.",
    schema: { type: "string", pattern: "^[!-~]{1,255}$" },
  },
};

export const headers: Record<string, Header> = {
  Location: {
    description: "The URL of the task, if the request has one, or of the flow.",
    schema: { type: "string" },
  },
  "WWW-Authenticate": {
    description: "The scheme `Bearer`. If the request had a token, also why it was refused.",
    schema: { type: "string" },
  },
};
