import * as v from "valibot";
import { taskStates } from "../../kernel/options/types.ts";
import { taskId } from "../request-schemas/values.ts";
import { base64, count, described, instant, reason, state } from "./values.ts";

const flowId = described(v.string(), "`<name>@<queue>`: the queue of a task that waits for nothing.");

export const added = v.object({
  id: flowId,
  created: described(
    v.boolean(),
    "False if a flow with this id was known already. Then nothing was added. A resent request gets the first response.",
  ),
  tasks: described(v.record(v.string(), taskId), "The id of each task, by its ref."),
});

const edge = v.object({
  ref: v.string(),
  on: v.picklist(["completed", "ended", "failed"]),
});

export const flow = v.object({
  id: flowId,
  state: described(
    v.picklist(["running", "completed", "rejected"]),
    "`running` until the last task has ended; then `completed` if all tasks completed, else `rejected`.",
  ),
  createdAt: instant("When it was added"),
  endedAt: v.exactOptional(instant("When its last task ended")),
  isCancelled: v.boolean(),
  onFailure: v.exactOptional(v.literal("cancel")),
  counts: described(
    v.object(v.entriesFromList(taskStates, count)),
    "How many tasks are in each state. Inner flows are not counted.",
  ),
  nodes: described(
    v.array(
      v.object({
        ref: described(v.string(), "With the refs of the flows it is in: `audit/rows`."),
        kind: v.picklist(["task", "flow"]),
        queue: v.exactOptional(v.string()),
        id: v.exactOptional(taskId),
        state: described(
          v.nullable(state),
          "Of an inner flow `blocked` until it has ended. null if the record is gone.",
        ),
        reason: v.exactOptional(reason),
        because: v.exactOptional(
          described(
            v.string(),
            "With the reason `dependency_failed`: the ref of the nearest task before it that did not complete.",
          ),
        ),
        after: described(v.array(edge), "What it waits for."),
      }),
    ),
    "Each comes after what it waits for.",
  ),
});

export const cancelled = v.object({
  id: flowId,
  cancelled: described(count, "Tasks that have ended because of it."),
  flagged: described(count, "Tasks that are working: their holders get `cancelRequested`."),
});

export const redriven = v.object({
  id: flowId,
  redriven: described(count, "Dead letters that are pending again."),
});

export const before = v.object({
  tasks: described(
    v.record(
      v.string(),
      v.object({
        id: taskId,
        queue: v.string(),
        state: described(
          v.nullable(v.picklist(["completed", "rejected"])),
          "null if it has not ended, or its record is gone.",
        ),
        result: v.exactOptional(v.unknown()),
        encoding: v.exactOptional(base64("result")),
        error: v.exactOptional(v.unknown()),
        errorEncoding: v.exactOptional(base64("error")),
        reason: v.exactOptional(reason),
      }),
    ),
    "What the task waited for, by ref.",
  ),
});

export const addedBefore = v.object({
  created: described(v.boolean(), "False if they were known already. Then nothing was added."),
  tasks: described(v.record(v.string(), taskId), "The id of each task, by its ref."),
});
