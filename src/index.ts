export {
  cloudflareQueue,
  type CloudflareBatch,
  type CloudflareConsumer,
  type CloudflareContext,
  type CloudflareMessage,
  type CloudflarePayload,
  type CloudflareQueueOptions,
  type CloudflareRetryOptions,
} from "./consumer/cloudflare-queue.ts";
export {
  drain,
  drainBatches,
  type BatchHandler,
  type DrainOptions,
  type DrainReport,
  type Handler,
  type HeldTask,
  type Verdict,
} from "./consumer/drain.ts";
export { NonRetryableError, RetryAfter, StoppedError, type StopReason } from "./consumer/failures.ts";
export { reinforced } from "./consumer/reinforced.ts";
export type { TaskSource } from "./consumer/source.ts";
export { wakeReceiver, type WakeReceiverOptions } from "./consumer/wake-receiver.ts";
export { webhookWaker, type WebhookWakerOptions } from "./consumer/webhook-waker.ts";
export { SluiceError, type SluiceErrorCode } from "./errors.ts";
export { delayAfter, type Backoff } from "./queue/backoff.ts";
export type { PublishedEvent } from "./queue/events.ts";
export {
  deepSweep,
  type DeepSweepOptions,
  type DeepSweepReport,
  type FaultReport,
} from "./queue/deep-sweep.ts";
export { LeasedTask } from "./queue/leased-task.ts";
export { Operator, type GroupInfo, type QueueDeleted } from "./queue/operator.ts";
export { Producer, type ProducerOptions } from "./queue/producer.ts";
export { Queue, type Batch, type QueueOptions } from "./queue/queue.ts";
export {
  listQueues,
  type ListQueuesOptions,
  type QueuePage,
  type RegisteredQueue,
} from "./queue/registry.ts";
export type { Recurrence } from "./queue/calendar.ts";
export type { ListedSchedule, Schedule, ScheduledOptions, ScheduledTask } from "./queue/schedule-record.ts";
export {
  Schedules,
  type ListSchedulesOptions,
  type NewSchedule,
  type ScheduleChanged,
  type SchedulePage,
  type SchedulePut,
  type ScheduleRemoved,
} from "./queue/schedules.ts";
export type { GroupChanges, GroupSettings, QueueChanges, QueueSettings, Rate } from "./queue/settings.ts";
export type { EventCounts, MinuteCounts, QueueEvent, QueueStatistics } from "./queue/statistics.ts";
export { sweep, type SweepOptions, type SweepReport } from "./queue/sweep.ts";
export type { TaskFilter } from "./queue/task-filter.ts";
export type {
  ListedTask,
  ListTasksOptions,
  PurgeOptions,
  PurgeReport,
  RedriveOptions,
  RedriveReport,
  Removed,
  TaskPage,
} from "./queue/task-operator.ts";
export type * from "./queue/types.ts";
export type { ListWorkersOptions, WorkerFailed, WorkerInfo, WorkerPage } from "./queue/worker-operator.ts";
export type { Waker } from "./queue/waker.ts";
export type { TaskEvent, WaitOptions, WatchOptions } from "./queue/watch.ts";
export type {
  Command,
  CommandOutcome,
  PlainCommand,
  Reply,
  Script,
  ScriptCall,
  SendOptions,
  Transport,
} from "./queue/transport.ts";
