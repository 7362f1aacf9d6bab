export const findingStatuses = ["ok", "warning", "problem", "unknown"] as const;

/** `unknown`: it could not be checked. */
export type FindingStatus = (typeof findingStatuses)[number];

/** What may be wrong with the database. */
export const databaseCodes = [
  "redis_slow",
  "version_unsupported",
  "eviction_on",
  "database_nearly_full",
  "not_durable",
  "clock_off",
] as const;

export type DatabaseCode = (typeof databaseCodes)[number];

/** What may be wrong with a deployment, which says so itself, or with what a report was asked for. Alerts do not know. */
export const deploymentCodes = ["cron_refused", "no_queue"] as const;

export type DeploymentCode = (typeof deploymentCodes)[number];

/** What may be wrong with a queue. */
export const queueCodes = [
  "unreadable",
  "broken_entries",
  "paused",
  "nothing_ends",
  "nothing_taken",
  "no_consumer",
  "attempts_fail",
  "worker_lost",
  "leases_expire",
  "queue_at_limit",
  "group_at_limit",
  "group_paused",
  "groups_stopped",
  "not_swept",
  "schedule_failing",
  "schedule_paused",
  "dead_letters",
  "dead_letters_rising",
] as const;

export type QueueCode = (typeof queueCodes)[number];
