/** What the HTTP interface returns, from the schemas of its documentation. */
import type * as v from "valibot";
import type { token } from "../../../http/response-schemas/diagnostics.ts";
import type * as queues from "../../../http/response-schemas/queues.ts";
import type { queuePartitions } from "../../../http/response-schemas/partitions.ts";
import type { schedules } from "../../../http/response-schemas/schedules.ts";
import type * as operation from "../../../http/response-schemas/task-operation.ts";
import type { cancelled, task } from "../../../http/response-schemas/tasks.ts";
import type { workers } from "../../../http/response-schemas/workers.ts";
import type { overviews } from "../../../http/response-schemas/overview.ts";

export type Grant = v.InferOutput<typeof token>["grants"][number];
export type QueuePage = v.InferOutput<typeof queues.queues>;
export type Overviews = v.InferOutput<typeof overviews>;
export type Overview = Extract<Overviews["queues"][number], { readonly pending: number }>;
export type Settings = v.InferOutput<typeof queues.queueSettings>;
export type GroupPage = v.InferOutput<typeof queues.groups>;
export type Partitions = v.InferOutput<typeof queuePartitions>;
export type Task = v.InferOutput<typeof task>;
export type Cancelled = v.InferOutput<typeof cancelled>;
export type TaskPage = v.InferOutput<typeof operation.listedPage>;
export type Redriven = v.InferOutput<typeof operation.redriven>;
export type Purged = v.InferOutput<typeof operation.purged>;
export type SchedulePage = v.InferOutput<typeof schedules>;
export type WorkerPage = v.InferOutput<typeof workers>;
export type State = Task["state"];

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
