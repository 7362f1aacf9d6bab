import { readTaskInfo } from "../record/read-record.ts";
import type { TaskInfo } from "../record/task-info.ts";
import type { GetOptions } from "../options/types.ts";
import { onlyOptions, REQUEST_OPTIONS, taskId, trueOrFalse } from "../options/validation.ts";
import { getScript } from "../scripts/get-script.ts";
import { openTask } from "../values/open-task.ts";
import type { Values } from "../values/values.ts";
import type { Adds } from "../store.ts";

const OPTIONS = ["payload", ...REQUEST_OPTIONS];

/** Reads a task: see `Queue.get`. */
export async function readTask(
  store: Adds,
  values: Values,
  id: string,
  options: GetOptions,
): Promise<TaskInfo | null> {
  onlyOptions(options, OPTIONS);
  const payload = trueOrFalse(options.payload ?? false, "payload") ? "1" : "";
  const args = { id: taskId(id), payload };
  const found = await store.find(
    id,
    (shard) => shard.call(getScript, args),
    (reply) => !reply,
    options,
  );
  return found && openTask(values, readTaskInfo(store.queue.name, id, found), id);
}
