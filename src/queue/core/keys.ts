import { keyPrefix, queueName } from "./validation.ts";

/** The keys of one queue, and the registry of all. All are declared to every script that touches them. */
export const parts = [
  "pending",
  "fair",
  "order",
  "held",
  "working",
  "delayed",
  "tasks",
  "expiry",
  "dead",
  "workers",
  "hands",
] as const;

/**
 * Beside the parts, and declared only where they are used: `schedules` and `timetable`, what recurs, and when; `calls`,
 * what is remembered of operators' calls; and `queues`, the registry.
 */
export type KeyName = (typeof parts)[number] | "schedules" | "timetable" | "calls" | "queues";

export type Keys = Readonly<Record<KeyName, string>>;

export const DEFAULT_PREFIX = "sluice";

/** Key of the registry of queues. */
export function registryKey(prefix: string = DEFAULT_PREFIX): string {
  return `${keyPrefix(prefix)}:queues`;
}

/** The keys of a queue; its name is the hash tag, so one cluster node holds them all. */
export function queueKeys(queue: string, prefix: string = DEFAULT_PREFIX): Keys {
  const tag = `${keyPrefix(prefix)}:{${queueName(queue)}}`;
  const key = (part: string): string => `${tag}:${part}`;
  const keys = Object.fromEntries(parts.map((part) => [part, key(part)]));
  return {
    ...(keys as Record<(typeof parts)[number], string>),
    schedules: key("schedules"),
    timetable: key("timetable"),
    calls: key("calls"),
    queues: registryKey(prefix),
  };
}
