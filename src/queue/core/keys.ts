import { keyPrefix, queueName } from "./validation.ts";

/** The parts of a queue's keys. A script declares all keys that it uses. */
export const parts = [
  "pending",
  "fair",
  "fairByGroup",
  "limited",
  "working",
  "delayed",
  "tasks",
  "expiry",
  "dead",
  "workers",
  "workerLeases",
] as const;

/** The parts above, and those of schedules. */
export const partsWithSchedules = [...parts, "schedules", "timetable"] as const;

/** All parts. `operatorCalls` remembers the last calls of operators. */
export const allParts = [...partsWithSchedules, "operatorCalls"] as const;

/** A part, or a key outside of any queue: `queues`, the registry of all queues, or `alerts`. */
export type KeyName = (typeof allParts)[number] | "queues" | "alerts";

/** The full keys of one queue, by part, and that of the registry. */
export type Keys = Readonly<Record<Exclude<KeyName, "alerts">, string>>;

/** Each name with its part of the key, such as `fair-by-group`. */
const names = allParts.map(
  (name) => [name, name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)] as const,
);

export const DEFAULT_PREFIX = "sluice";

/**
 * The key of the registry of queues.
 * @throws {SluiceError} `invalid_argument`
 */
export function registryKey(prefix: string = DEFAULT_PREFIX): string {
  return `${keyPrefix(prefix)}:queues`;
}

/**
 * The key of the alerts of all queues.
 * @throws {SluiceError} `invalid_argument`
 */
export function alertsKey(prefix: string = DEFAULT_PREFIX): string {
  return `${keyPrefix(prefix)}:alerts`;
}

/**
 * The keys of a queue. Its name is their hash tag, so one cluster node holds them all.
 * @throws {SluiceError} `invalid_argument`
 */
export function queueKeys(queue: string, prefix: string = DEFAULT_PREFIX): Keys {
  const tag = `${keyPrefix(prefix)}:{${queueName(queue)}}`;
  const keys = Object.fromEntries(names.map(([name, part]) => [name, `${tag}:${part}`]));
  return { ...keys, queues: registryKey(prefix) } as Keys;
}
