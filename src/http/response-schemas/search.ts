import * as v from "valibot";
import { listedTask } from "./task-operation.ts";
import { count, described } from "./values.ts";

export const found = v.object({
  tasks: v.array(
    v.object({
      ...listedTask.entries,
      found: described(
        v.picklist(["id", "error", "result", "payload"]),
        "Where the task has the text; the first of these that does.",
      ),
    }),
  ),
  looked: described(
    v.object({ tasks: count, queues: count }),
    "How far this request has looked: about how many tasks, in how many queues.",
  ),
  unsearched: described(
    count,
    "Tasks with values that could not be searched: they are encrypted, or in an object store.",
  ),
  failed: described(
    v.array(v.object({ queue: v.string(), code: v.string() })),
    "Queues that could not be searched, and why, such as `newer_schema`.",
  ),
  cursor: described(v.nullable(v.string()), "To search on; null if all was searched."),
});
