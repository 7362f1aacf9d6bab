export { SluiceError, type SluiceErrorCode } from "../errors.ts";
export { LeasedTask } from "../queue/tasks/leased-task.ts";
export type { Batch } from "../queue/tasks/queue.ts";
export type * from "../queue/core/types.ts";
export type { TaskEvent, WaitOptions, WatchOptions } from "../queue/tasks/watch.ts";
export { type Client, createClient } from "./client.ts";
export type { ConnectionOptions as ClientOptions, Fetch } from "./connection.ts";
export type { ClientQueue, ClientQueueOptions } from "./queue.ts";
