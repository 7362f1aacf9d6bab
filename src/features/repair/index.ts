export { checkQueues } from "./check-queues.ts";
export type { DeepSweepReport, FaultReport } from "./deep-sweep-report.ts";
export { type DeepSweepOptions, plainDeepSweep } from "./deep-sweep.ts";
