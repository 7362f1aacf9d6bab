import { keyPrefix, queueName } from "./validation.ts";

/** The keys of one queue. All are declared to every script that touches them. */
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

/** Declared only where they are used: schedules, and what is remembered of operators' calls. */
const furtherParts = ["schedules", "timetable", "operatorCalls"] as const;

/** The parts, and `queues`: the registry of all queues. */
export type KeyName = (typeof parts)[number] | (typeof furtherParts)[number] | "queues";

export type Keys = Readonly<Record<KeyName, string>>;

/** Each name with the part of the key that it stands for, such as `fair-by-group`. */
const names = [...parts, ...furtherParts].map(
  (name) => [name, name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)] as const,
);

export const DEFAULT_PREFIX = "sluice";

/** Key of the registry of queues. */
export function registryKey(prefix: string = DEFAULT_PREFIX): string {
  return `${keyPrefix(prefix)}:queues`;
}

/** The keys of a queue; its name is the hash tag, so one cluster node holds them all. */
export function queueKeys(queue: string, prefix: string = DEFAULT_PREFIX): Keys {
  const tag = `${keyPrefix(prefix)}:{${queueName(queue)}}`;
  const keys = Object.fromEntries(names.map(([name, part]) => [name, `${tag}:${part}`]));
  return { ...keys, queues: registryKey(prefix) } as Keys;
}
