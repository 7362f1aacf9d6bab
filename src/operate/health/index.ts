export { LONGEST_STUCK } from "./bounds.ts";
export type { DatabaseCode, DeploymentCode, FindingStatus, QueueCode } from "./codes.ts";
export { cronFinding } from "./cron-finding.ts";
export { clockFinding } from "./database-findings.ts";
export { examineDatabase, examineQueues } from "./examine.ts";
export { type Finding, finding, type Health, isAtLeast } from "./finding.ts";
export {
  type HealthFinding,
  type HealthOptions,
  healthReport,
  type HealthReport,
  type QueueHealth,
  queueHealth,
} from "./report.ts";
