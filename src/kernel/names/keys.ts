import { keyPrefix, shardName } from "../options/validation.ts";

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

/** A part of a queue's own keys, in a script that renames them to those of place 0. */
type PlainKeyName = `plain${Capitalize<(typeof allParts)[number]>}`;

/**
 * A key outside of any queue: `maps`, those of partitions; `alerts`; `endpoints`; `topics`, the subscriptions to topics;
 * `messages` of one topic; or `records`, any hash of records. And `needed`, which the queue of QStash's messages has alone.
 */
type KeyOutside = "maps" | "alerts" | "endpoints" | "topics" | "messages" | "records" | "needed";

/** A part, or a key outside of any queue, such as `queues`, the registry of all queues. */
export type KeyName = (typeof allParts)[number] | PlainKeyName | "queues" | KeyOutside;

/** The full keys of one shard, by part, and that of the registry. */
export type Keys = Readonly<Record<Exclude<KeyName, PlainKeyName | KeyOutside>, string>>;

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
 * A key that never exists: deleting it shows whether Redis takes writes.
 * @throws {SluiceError} `invalid_argument`
 */
export function unusedKey(prefix: string = DEFAULT_PREFIX): string {
  return `${keyPrefix(prefix)}:unused`;
}

/**
 * The key of the alerts of all queues.
 * @throws {SluiceError} `invalid_argument`
 */
export function alertsKey(prefix: string = DEFAULT_PREFIX): string {
  return `${keyPrefix(prefix)}:alerts`;
}

/**
 * The key of the endpoints.
 * @throws {SluiceError} `invalid_argument`
 */
export function endpointsKey(prefix: string = DEFAULT_PREFIX): string {
  return `${keyPrefix(prefix)}:endpoints`;
}

/**
 * The key of the area that a database's objects have in object stores. A cluster has it on the node of the maps of
 * partitions, so that both are lost together.
 * @throws {SluiceError} `invalid_argument`
 */
export function objectsKey(prefix: string = DEFAULT_PREFIX): string {
  return `{${registryKey(prefix)}}:objects`;
}

/**
 * The key of the maps of partitions. A cluster has it on the node of the registry.
 * @throws {SluiceError} `invalid_argument`
 */
export function mapsKey(prefix: string = DEFAULT_PREFIX): string {
  return `{${registryKey(prefix)}}:maps`;
}

/** The name of a shard of a queue that is divided, such as `emails/3`. That of any other queue has its own name. */
export function nameOfShard(queue: string, place: number): string {
  return `${queue}/${place}`;
}

/** The queue of a shard, by its name, and its place. */
export function readShardName(name: string): { readonly queue: string; readonly place: number } {
  const [queue = name, place = "0"] = name.split("/");
  return { queue, place: Number(place) };
}

/**
 * The keys of a shard. The name is their hash tag, so one cluster node holds
 * them all. Place 0 has the hash tag of the queue, so that a queue's keys can be renamed to its.
 * @param queue such as `emails`, or `emails/3` for a part of it
 * @throws {SluiceError} `invalid_argument`
 */
export function queueKeys(queue: string, prefix: string = DEFAULT_PREFIX): Keys {
  const name = shardName(queue);
  const tag = `${keyPrefix(prefix)}:${name.endsWith("/0") ? `{${name.slice(0, -2)}}/0` : `{${name}}`}`;
  const keys = Object.fromEntries(names.map(([name, part]) => [name, `${tag}:${part}`]));
  return { ...keys, queues: registryKey(prefix) } as Keys;
}

/** The name of a part beside that of place 0. */
export function plainName(part: (typeof allParts)[number]): PlainKeyName {
  return `plain${part.charAt(0).toUpperCase()}${part.slice(1)}` as PlainKeyName;
}

/** The keys of a queue under the names that they have beside those of place 0. */
export function plainKeys(keys: Keys): Readonly<Record<PlainKeyName, string>> {
  return Object.fromEntries(allParts.map((part) => [plainName(part), keys[part]])) as Record<
    PlainKeyName,
    string
  >;
}
