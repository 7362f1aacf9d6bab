export { SluiceError, type SluiceErrorCode } from "../errors.ts";
export { LeasedTask } from "../queue/leased-task.ts";
export type { Batch } from "../queue/queue.ts";
export type * from "../queue/types.ts";
export type { TaskEvent, WaitOptions, WatchOptions } from "../queue/watch.ts";
export { type Client, createClient } from "./client.ts";
export type { ConnectionOptions as ClientOptions, Fetch } from "./connection.ts";
export type { ClientQueue, ClientQueueOptions } from "./queue.ts";
