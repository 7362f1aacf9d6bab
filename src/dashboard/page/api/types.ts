/** What the HTTP interface returns, from the schemas of its documentation. */
import type * as v from "valibot";
import type { token } from "../../../http/response-schemas/diagnostics.ts";
import type * as queues from "../../../http/response-schemas/queues.ts";
import type { queuePartitions } from "../../../http/response-schemas/partitions.ts";
import type { schedule, schedules } from "../../../http/response-schemas/schedules.ts";
import type * as operation from "../../../http/response-schemas/task-operation.ts";
import type { health } from "../../../http/response-schemas/health.ts";
import type { deepSwept, swept } from "../../../http/response-schemas/sweep.ts";
import type { cancelled, task } from "../../../http/response-schemas/tasks.ts";
import type { failed, workers } from "../../../http/response-schemas/workers.ts";
import type { groupChanges, queueChanges } from "../../../http/request-schemas/queues.ts";
import type { newSchedule } from "../../../http/request-schemas/schedules.ts";
import type { found } from "../../../http/response-schemas/search.ts";
import type { overviews } from "../../../http/response-schemas/overview.ts";

export type Grant = v.InferOutput<typeof token>["grants"][number];
export type QueuePage = v.InferOutput<typeof queues.queues>;
export type Overviews = v.InferOutput<typeof overviews>;
export type Overview = Extract<Overviews["queues"][number], { readonly pending: number }>;
export type Settings = v.InferOutput<typeof queues.queueSettings>;
export type GroupSettings = v.InferOutput<typeof queues.groupSettings>;
export type GroupPage = v.InferOutput<typeof queues.groups>;
export type Partitions = v.InferOutput<typeof queuePartitions>;
export type Task = v.InferOutput<typeof task>;
export type Cancelled = v.InferOutput<typeof cancelled>;
export type TaskPage = v.InferOutput<typeof operation.listedPage>;
export type ListedTask = TaskPage["tasks"][number];
export type Redriven = v.InferOutput<typeof operation.redriven>;
export type Purged = v.InferOutput<typeof operation.purged>;
export type SchedulePage = v.InferOutput<typeof schedules>;
export type ListedSchedule = SchedulePage["schedules"][number];
export type Schedule = v.InferOutput<typeof schedule>;
export type NewSchedule = v.InferInput<typeof newSchedule>;
export type WorkerPage = v.InferOutput<typeof workers>;
export type Worker = WorkerPage["workers"][number];
export type WorkerFailed = v.InferOutput<typeof failed>;
export type Group = GroupPage["groups"][number];
export type StoppedGroups = v.InferOutput<typeof queues.stoppedGroups>;
export type StoppedGroup = StoppedGroups["groups"][number];
export type SettingsChanges = v.InferInput<typeof queueChanges>;
export type GroupChanges = v.InferInput<typeof groupChanges>;
export type History = NonNullable<v.InferOutput<typeof queues.statistics>["history"]>;
export type Health = v.InferOutput<typeof health>;
export type Finding = Health["findings"][number];
export type Swept = v.InferOutput<typeof swept>;
export type DeepSwept = v.InferOutput<typeof deepSwept>;
export type CancelledMany = v.InferOutput<typeof operation.cancelledMany>;
export type DeletedMany = v.InferOutput<typeof operation.deletedMany>;
export type DeadLetters = v.InferOutput<typeof operation.deadLetters>;
export type Cause = DeadLetters["causes"][number];
export type DeadGroup = DeadLetters["groups"][number];
export type Found = v.InferOutput<typeof found>;
export type FoundTask = Found["tasks"][number];
export type State = Task["state"];
export type { FlowReport as Flow } from "../../../features/flows/graph/index.ts";
export type CancelledFlow = Readonly<Record<"cancelled" | "flagged", number>>;
export type RedrivenFlow = Readonly<Record<"redriven", number>>;

/** Which tasks: the fields of a filter of the HTTP interface. */
export interface Filter {
  readonly group?: string;
  readonly text?: string;
  readonly reason?: string;
  readonly endedSince?: number;
  readonly endedUntil?: number;
  readonly enqueuedSince?: number;
  readonly enqueuedUntil?: number;
}
