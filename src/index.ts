export {
  cloudflareQueue,
  type CloudflareBatch,
  type CloudflareConsumer,
  type CloudflareContext,
  type CloudflareMessage,
  type CloudflarePayload,
  type CloudflareQueueOptions,
  type CloudflareRetryOptions,
} from "./consumer/adapters/cloudflare-queue.ts";
export { drain, drainBatches } from "./consumer/drain/drain.ts";
export {
  type BatchHandler,
  type DrainOptions,
  type DrainReport,
  type Handler,
  type Task,
  type TaskFailure,
  type TaskOutcome,
} from "./consumer/drain/types.ts";
export { RequestBudget } from "./consumer/drain/request-budget.ts";
export { NonRetryableError, RetryAfter, StoppedError, type StopReason } from "./consumer/drain/failures.ts";
export { withScaleOut } from "./consumer/wake/with-scale-out.ts";
export type { TaskSource } from "./consumer/drain/source.ts";
export { wakeReceiver, type WakeReceiverOptions } from "./consumer/wake/wake-receiver.ts";
export { webhookWaker, type WebhookWakerOptions } from "./consumer/wake/webhook-waker.ts";
export { applyQueues, type ApplyOptions, type ApplyReport } from "./deploy/declared/apply-queues.ts";
export type { DeclaredSettings, QueueDeclaration } from "./deploy/declared/declaration.ts";
export {
  defineQueue,
  type DeclaredQueue,
  type DefinedQueue,
  type QueueConnection,
  type QueueConsumer,
  type WorkOptions,
} from "./deploy/declared/define-queue.ts";
export { type PayloadIssue, SluiceError, type SluiceErrorCode } from "./errors.ts";
export { delayAfter, type Backoff } from "./queue/core/backoff.ts";
export type { PublishedEvent } from "./queue/tasks/events.ts";
export { deepSweep, type DeepSweepOptions } from "./queue/repair/deep-sweep.ts";
export type { DeepSweepReport, FaultReport } from "./queue/repair/deep-sweep-report.ts";
export { LeasedTask } from "./queue/tasks/leased-task.ts";
export type { DeadLetter, OnDeadLetter } from "./queue/core/dead-letter.ts";
export { reasonTexts } from "./queue/core/reason-text.ts";
export type { ErrorSummary } from "./queue/core/error-summary.ts";
export {
  type CountedQueue,
  countQueues,
  type NotCounted,
  type QueueOverview,
  queueOverviews,
} from "./queue/operate/count-queues.ts";
export { commandsPerCall, estimatedCommands } from "./queue/operate/estimated-commands.ts";
export { Operator, type GroupInfo, type GroupPage, type QueueDeleted } from "./queue/operate/operator.ts";
export type { PartitionInfo, QueuePartitions } from "./queue/operate/partition-operator.ts";
export { Producer, type ProducerOptions } from "./queue/tasks/producer.ts";
export { Queue, type QueueOptions } from "./queue/tasks/queue.ts";
export { type Batch } from "./queue/tasks/leased-task.ts";
export {
  listQueues,
  type ListQueuesOptions,
  type QueuePage,
  type RegisteredQueue,
} from "./queue/sweep/registry.ts";
export type { Recurrence } from "./queue/schedules/calendar.ts";
export type { NewSchedule } from "./queue/schedules/new-schedule.ts";
export type {
  ListedSchedule,
  Schedule,
  ScheduledOptions,
  ScheduledTask,
} from "./queue/schedules/schedule-record.ts";
export {
  Schedules,
  type ListSchedulesOptions,
  type ScheduleChanged,
  type SchedulePage,
  type SchedulePut,
  type ScheduleRemoved,
} from "./queue/schedules/schedules.ts";
export type {
  GroupChanges,
  GroupSettings,
  QueueChanges,
  QueueSettings,
  Rate,
} from "./queue/operate/settings.ts";
export {
  type CallCounts,
  durationBounds,
  type DurationCounts,
  type EventCounts,
  type MinuteCounts,
  type PeriodCounts,
  type QueueStatistics,
  type TotalCounts,
} from "./queue/operate/statistics.ts";
export type { QueueEvent } from "./queue/tasks/events.ts";
export { databases, type DatabasesTransport } from "./queue/partitions/databases.ts";
export { sweep } from "./sweep.ts";
export type { SweepOptions, SweepReport } from "./queue/sweep/types.ts";
export type { TaskFilter } from "./queue/operate/filters.ts";
export type { ListedTask, ListTasksOptions, Removed, TaskPage } from "./queue/operate/task-lister.ts";
export type {
  PurgeOptions,
  PurgeReport,
  RedriveOptions,
  RedriveReport,
} from "./queue/operate/task-operator.ts";
export type { Duration } from "./queue/core/duration.ts";
export type { Tracing } from "./queue/core/tracing.ts";
export type { QueueCounts, SweepCounts } from "./queue/core/counts.ts";
export type * from "./queue/core/task-info.ts";
export type * from "./queue/core/types.ts";
export type {
  ListWorkersOptions,
  WorkerFailed,
  WorkerInfo,
  WorkerPage,
} from "./queue/operate/worker-operator.ts";
export type { DefinedOptions, QueueDefinition, QueueOrName } from "./queue/tasks/definition.ts";
export type { Waker } from "./queue/tasks/waker.ts";
export type { TaskEvent } from "./queue/tasks/watch.ts";
export type { WaitOptions, WatchOptions } from "./queue/tasks/watch-options.ts";
export type {
  Command,
  CommandOutcome,
  PlainCommand,
  Reply,
  Script,
  ScriptCall,
  SendOptions,
  Transport,
} from "./queue/redis/transport.ts";
