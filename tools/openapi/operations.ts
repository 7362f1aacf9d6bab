import { about } from "./about.ts";
import { operation } from "./operation.ts";
import type { OperationText } from "./operation-text.ts";
import { queues } from "./queues.ts";
import { tasks } from "./tasks.ts";
import { workers } from "./workers.ts";

/** Every route, in the order of the document. */
export const operations: readonly OperationText[] = [...tasks, ...queues, ...workers, ...operation, ...about];
