import type { TaskInfo } from "../record/task-info.ts";
import type { Cancelled, GetOptions, RequestOptions } from "../options/types.ts";
import type { Values } from "../values/values.ts";
import type { Adds } from "../store.ts";

/** Reads and cancels tasks of a queue by their ids. What that needs is loaded at the first call. */
export class TasksById {
  readonly name: string;
  protected readonly store: Adds;
  protected readonly values: Values;

  constructor(store: Adds, values: Values) {
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
    const { readTask } = await import("./read-task.ts");
    return readTask(this.store, this.values, id, options);
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
    const { cancelTask } = await import("./cancel-task.ts");
    return cancelTask(this.store, id, options);
  }
}
