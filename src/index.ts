export {
  cloudflareQueue,
  type CloudflareBatch,
  type CloudflareConsumer,
  type CloudflareContext,
  type CloudflareMessage,
  type CloudflarePayload,
  type CloudflareQueueOptions,
  type CloudflareRetryOptions,
} from "./adapters/cloudflare-queue.ts";
export { drain, drainBatches } from "./drain/drain.ts";
export {
  type BatchHandler,
  type DrainOptions,
  type DrainReport,
  type Handler,
  type Task,
  type TaskFailure,
  type TaskOutcome,
} from "./drain/types.ts";
export { RequestBudget } from "./drain/request-budget.ts";
export { NonRetryableError, RetryAfter, StoppedError, type StopReason } from "./drain/failures.ts";
export { withScaleOut } from "./drain/with-scale-out.ts";
export type { TaskSource } from "./drain/source.ts";
export { wakeReceiver, type WakeReceiverOptions } from "./adapters/wake-receiver.ts";
export {
  pubSubWaker,
  type PubSubWakerOptions,
  webhookWaker,
  type WebhookWakerOptions,
  type Waker,
} from "./features/waking/index.ts";
export { applyQueues, type ApplyOptions, type ApplyReport } from "./deploy/declared/apply-queues.ts";
export type { DeclaredChanges } from "./deploy/declared/declared-changes.ts";
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
export { delayAfter, type Backoff } from "./kernel/options/backoff.ts";
export type { EventsOptions, PublishedEvent } from "./kernel/tasks/events.ts";
export type { ReportedTask } from "./kernel/tasks/reported-task.ts";
export { deepSweep } from "./open/deep-sweep/deep-sweep.ts";
export type { DeepSweepOptions, DeepSweepReport, FaultReport } from "./features/repair/index.ts";
export { LeasedTask } from "./kernel/lease/leased-task.ts";
export type { DeadLetter, OnDeadLetter } from "./kernel/record/dead-letter.ts";
export { reasonTexts } from "./kernel/errors/reason-text.ts";
export type { ErrorSummary } from "./kernel/errors/error-summary.ts";
export {
  type CountedQueue,
  countQueues,
  type NotCounted,
  type QueueOverview,
  queueOverviews,
} from "./operate/count-queues.ts";
export {
  type DatabaseCode,
  type DeploymentCode,
  type FindingStatus,
  type Health,
  type HealthFinding,
  type HealthOptions,
  type HealthReport,
  type QueueCode,
  queueHealth,
} from "./operate/health/index.ts";
export { commandsPerCall, estimatedCommands } from "./operate/estimated-commands.ts";
export { Operator } from "./open/operator.ts";
export type { GroupInfo, GroupPage } from "./operate/groups.ts";
export type { QueueDeleted } from "./operate/delete-queue.ts";
export {
  type PartitionInfo,
  type QueuePartitions,
  databases,
  type DatabasesTransport,
} from "./features/partitions/index.ts";
export type { Skipped, StoppedGroup, StoppedGroups } from "./features/order/index.ts";
export { Producer } from "./open/producer.ts";
export type { ProducerOptions } from "./open/options.ts";
export { Queue } from "./open/queue.ts";
export type { QueueOptions } from "./open/options.ts";
export { type Batch } from "./kernel/lease/leased-task.ts";
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
  ScheduleResumed,
  SchedulePage,
  SchedulePut,
  ScheduleRemoved,
  ScheduleRun,
} from "./features/schedules/index.ts";
export { Schedules } from "./open/schedules/schedules.ts";
export type {
  GroupChanges,
  GroupSettings,
  OnDead,
  Order,
  PauseOptions,
  QueueChanges,
  QueueSettings,
  Rate,
} from "./operate/settings.ts";
export {
  type CallCounts,
  durationBounds,
  type DurationCounts,
  type EventCounts,
  type MinuteCounts,
  type PeriodCounts,
  type QueueStatistics,
  type StatisticsOptions,
  type TotalCounts,
} from "./operate/statistics.ts";
export type { QueueEvent } from "./kernel/tasks/events.ts";
export { sweep } from "./open/sweep.ts";
export type { SweepOptions, SweepReport } from "./open/sweep-with.ts";
export type { TaskFilter } from "./operate/filters.ts";
export type { ListedTask, ListTasksOptions, Removed, TaskPage } from "./operate/list-tasks.ts";
export { findTasks } from "./open/find-tasks.ts";
export type { FindTasksOptions, FoundTasks } from "./operate/search-queues.ts";
export type { FoundTask, Searched, SearchOptions, SearchPage } from "./operate/search-tasks.ts";
export type { PayloadPreview } from "./operate/payload-preview.ts";
export {
  type CountDeadLettersOptions,
  type DeadLetterCause,
  type DeadLetterCounts,
  type DeadLetterGroup,
  sumOfDeadLetters,
} from "./operate/dead-letters.ts";
export type { CancelledMany, RemovedMany, TaskWithLease } from "./operate/tasks-by-ids.ts";
export type { PurgeOptions, PurgeReport } from "./operate/purge.ts";
export type { RedriveOptions, RedriveReport } from "./operate/redrive.ts";
export type { Logger, LoggerOption, LogLevel } from "./log/logger.ts";
export type { Duration } from "./kernel/options/duration.ts";
export type { Tracing } from "./features/tracing/types.ts";
export type { QueueCounts, SweepCounts } from "./kernel/tasks/counts.ts";
export type * from "./kernel/record/task-info.ts";
export type * from "./kernel/options/types.ts";
export type {
  ListWorkersOptions,
  WorkerFailed,
  WorkerForgotten,
  WorkerInfo,
  WorkerPage,
} from "./operate/workers.ts";
export type { DefinedOptions, QueueDefinition, QueueOrName } from "./open/definition.ts";
export type { TaskEvent } from "./kernel/tasks/watch.ts";
export type { WaitOptions, WatchOptions } from "./kernel/tasks/watch-options.ts";
export type {
  Command,
  CommandOutcome,
  PlainCommand,
  Reply,
  Script,
  ScriptCall,
  SendOptions,
  Transport,
} from "./kernel/transport.ts";
