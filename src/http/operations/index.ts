import { schedules } from "../../open/schedules/index.ts";
import { declarationRoutes } from "../routes/declaration.ts";
import { diagnosticsRoutes } from "../routes/diagnostics.ts";
import { groupRoutes } from "../routes/groups.ts";
import { healthRoutes } from "../routes/health.ts";
import { metricsRoutes } from "../routes/metrics.ts";
import { overviewRoutes } from "../routes/overview.ts";
import { partitionRoutes } from "../routes/partitions.ts";
import { queueRoutes } from "../routes/queues.ts";
import { scheduleRoutes } from "../routes/schedules.ts";
import { searchRoutes } from "../routes/search.ts";
import { taskOperationRoutes } from "../routes/task-operation.ts";
import { workerRoutes } from "../routes/workers.ts";
import type { Operations } from "./operations.ts";

export type { Operations } from "./operations.ts";

const routes = [
  taskOperationRoutes,
  metricsRoutes,
  overviewRoutes,
  healthRoutes,
  searchRoutes,
  queueRoutes,
  groupRoutes,
  partitionRoutes,
  workerRoutes,
  scheduleRoutes,
  declarationRoutes,
  diagnosticsRoutes,
];

/**
 * The routes that show and operate queues. The command line, the dashboard and metrics use them.
 * @example createApp({ transport, tokens, operations })
 */
export const operations: Operations = {
  schedules,
  mount(app, services) {
    for (const add of routes) add(app, services);
  },
};
