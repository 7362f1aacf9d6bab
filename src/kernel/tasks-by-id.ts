import { readTaskInfo } from "../queue/core/record.ts";
import type { TaskInfo } from "../queue/core/task-info.ts";
import type { Cancelled, GetOptions, RequestOptions } from "../queue/core/types.ts";
import { onlyOptions, REQUEST_OPTIONS, taskId, trueOrFalse, wholeNumber } from "../queue/core/validation.ts";
import { cancelScript, getScript } from "../queue/redis/task-scripts.ts";
import { decryptTask, type ValuesQueue } from "../queue/values/encryption.ts";
import type { Adds } from "./store.ts";

const GET_OPTIONS = ["payload", ...REQUEST_OPTIONS];

/** Reads and cancels tasks of a queue by their ids. */
export class TasksById {
  readonly name: string;
  protected readonly store: Adds;
  protected readonly values: ValuesQueue;

  constructor(store: Adds, values: ValuesQueue) {
    this.name = store.queue.name;
    this.store = store;
    this.values = values;
  }

  /**
   * Reads a task. One request.
   * @param id of the task
   * @param options.payload whether to return the payload. @default false
   * @returns its state, with its result or error; null if its id is unknown or its record has expired
   * @throws {SluiceError} `undecryptable`, or a fault of the transport
   */
  async get(id: string, options: GetOptions = {}): Promise<TaskInfo | null> {
    onlyOptions(options, GET_OPTIONS);
    const payload = trueOrFalse(options.payload ?? false, "payload") ? "1" : "";
    const args = { id: taskId(id), payload } as const;
    const found = await this.store.find(
      id,
      (shard) => shard.call(getScript, args),
      (reply) => !reply,
      options,
    );
    return found && decryptTask(this.values, readTaskInfo(this.name, id, found), id);
  }

  /**
   * Cancels a task. A working task is flagged: its holder learns of it at the next extend or settle.
   * Cancelling again returns the same.
   * @param id of the task
   * @param options.lease the lease number that the task must have, as `get` shows it. A late copy of the
   *   request then does not cancel a later life of the same id.
   * @default any
   * @returns the state of the task, or why it was not cancelled
   * @throws {SluiceError}
   */
  async cancel(
    id: string,
    options: RequestOptions & { readonly lease?: number | undefined } = {},
  ): Promise<Cancelled> {
    onlyOptions(options, ["lease", ...REQUEST_OPTIONS]);
    const lease =
      options.lease === undefined ? "" : String(wholeNumber(options.lease, "lease", 0, 2 ** 53 - 1));
    const args = { id: taskId(id), lease };
    const isUnknown = (reply: string) => reply === "not_found";
    const status = await this.store.find(id, (shard) => shard.call(cancelScript, args), isUnknown, options);
    return status === "rejected" || status === "working"
      ? { ok: true, state: status }
      : { ok: false, code: status };
  }
}
