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
