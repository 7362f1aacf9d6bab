export type { DatabaseCode, FindingStatus, QueueCode } from "./codes.ts";
export { clockFinding, databaseFindings } from "./database-findings.ts";
export { type Finding, finding, type Health, isAtLeast } from "./finding.ts";
export {
  type HealthFinding,
  type HealthOptions,
  healthReport,
  type HealthReport,
  queueHealth,
} from "./report.ts";
