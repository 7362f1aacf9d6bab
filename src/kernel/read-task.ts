import { readTaskInfo } from "../queue/core/read-record.ts";
import type { TaskInfo } from "../queue/core/task-info.ts";
import type { GetOptions } from "../queue/core/types.ts";
import { onlyOptions, REQUEST_OPTIONS, taskId, trueOrFalse } from "../queue/core/validation.ts";
import { getScript } from "../queue/redis/get-script.ts";
import { decryptTask } from "../queue/values/decrypt.ts";
import type { ValuesQueue } from "../queue/values/encryption.ts";
import type { Adds } from "./store.ts";

const OPTIONS = ["payload", ...REQUEST_OPTIONS];

/** Reads a task: see `Queue.get`. */
export async function readTask(
  store: Adds,
  values: ValuesQueue,
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
  return found && decryptTask(values, readTaskInfo(store.queue.name, id, found), id);
}
