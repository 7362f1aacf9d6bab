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
export { deepSweep } from "./deep-sweep/deep-sweep.ts";
export type { DeepSweepOptions, DeepSweepReport, FaultReport } from "./features/repair/index.ts";
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
export { Operator } from "./open/operator.ts";
export type { GroupInfo, GroupPage } from "./queue/operate/groups.ts";
export type { QueueDeleted } from "./queue/operate/delete-queue.ts";
export type { PartitionInfo, QueuePartitions } from "./queue/partitions/operate.ts";
export { Producer } from "./open/producer.ts";
export type { ProducerOptions } from "./open/options.ts";
export { Queue } from "./open/queue.ts";
export type { QueueOptions } from "./open/options.ts";
export { type Batch } from "./queue/tasks/leased-task.ts";
export {
  listQueues,
  type ListQueuesOptions,
  type QueuePage,
  type RegisteredQueue,
} from "./sweep/registry.ts";
export type {
  Recurrence,
  NewSchedule,
  ListedSchedule,
  Schedule,
  ScheduledOptions,
  ScheduledTask,
  ListSchedulesOptions,
  ScheduleChanged,
  SchedulePage,
  SchedulePut,
  ScheduleRemoved,
} from "./features/schedules/index.ts";
export { Schedules } from "./open/schedules.ts";
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
export type { SweepOptions, SweepReport } from "./sweep/types.ts";
export type { TaskFilter } from "./queue/operate/filters.ts";
export type { ListedTask, ListTasksOptions, Removed, TaskPage } from "./queue/operate/list-tasks.ts";
export type { PurgeOptions, PurgeReport } from "./queue/operate/purge.ts";
export type { RedriveOptions, RedriveReport } from "./queue/operate/redrive.ts";
export type { Duration } from "./queue/core/duration.ts";
export type { Tracing } from "./queue/core/tracing.ts";
export type { QueueCounts, SweepCounts } from "./queue/core/counts.ts";
export type * from "./queue/core/task-info.ts";
export type * from "./queue/core/types.ts";
export type { ListWorkersOptions, WorkerFailed, WorkerInfo, WorkerPage } from "./queue/operate/workers.ts";
export type { DefinedOptions, QueueDefinition, QueueOrName } from "./queue/tasks/definition.ts";
export type { Waker } from "./features/waking/index.ts";
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
