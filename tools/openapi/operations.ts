import { about } from "./about.ts";
import { declaration } from "./declaration.ts";
import { diagnostics } from "./diagnostics.ts";
import { endpoints } from "./endpoints.ts";
import { flows } from "./flows.ts";
import { health } from "./health.ts";
import type { OperationText } from "./operation-text.ts";
import { metrics } from "./metrics.ts";
import { overview } from "./overview.ts";
import { partitions } from "./partitions.ts";
import { queues } from "./queues.ts";
import { schedules } from "./schedules.ts";
import { taskOperation } from "./task-operation.ts";
import { sweep } from "./sweep.ts";
import { tasks } from "./tasks.ts";
import { topics } from "./topics.ts";
import { watch } from "./watch.ts";
import { workers } from "./workers.ts";

/** Every route, in the order of the document. */
export const operations: readonly OperationText[] = [
  ...tasks,
  ...watch,
  ...taskOperation,
  ...flows,
  ...topics,
  ...endpoints,
  ...queues,
  ...partitions,
  ...overview,
  ...health,
  ...metrics,
  ...declaration,
  ...workers,
  ...schedules,
  ...sweep,
  ...diagnostics,
  ...about,
];
