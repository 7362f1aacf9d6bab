import { invalidArgument } from "../errors.ts";
import { run } from "../kernel/call.ts";
import { taskStates, type TaskState } from "../kernel/options/types.ts";
import { onlyOptions, REQUEST_OPTIONS } from "../kernel/options/validation.ts";
import { purgeScript } from "./operate-scripts.ts";
import { FILTER_OPTIONS, writeFilter, type TaskFilter } from "./filters.ts";
import { stateOf } from "./list-tasks.ts";
import type { OperatedQueue } from "./operated-queue.ts";
import { RUN_BOUNDS, runOverShards, type RunOptions, type RunReport } from "./paged-run.ts";

export interface PurgeOptions extends TaskFilter, RunOptions {
  readonly state: Exclude<TaskState, "working">;
}

export interface PurgeReport extends RunReport {
  readonly purged: number;
}

const OPTIONS = ["state", ...FILTER_OPTIONS, ...RUN_BOUNDS, ...REQUEST_OPTIONS];

/** Purges tasks in one state: see `Operator.purge`. */
export async function purgeTasks({ store }: OperatedQueue, options: PurgeOptions): Promise<PurgeReport> {
  onlyOptions(options, OPTIONS);
  const state = stateOf(
    options?.state,
    taskStates.filter((state) => state !== "working"),
  );
  const filter = writeFilter(options);
  if (state === "pending" && filter !== "" && options.group === undefined) {
    throw invalidArgument("group", "must be given with a filter of pending tasks");
  }
  const kind = state === "pending" ? "purgePending" : "members";
  const { count, ...report } = await runOverShards(store, options, kind, (shard, cursor, limit) =>
    run(store.queue.transport, shard.call(purgeScript, { state, limit, cursor, filter }), options),
  );
  return { purged: count, ...report };
}
