import { connectionTo } from "./connection.ts";

/** All data of a Redis, by key, in a form that `toEqual` compares. */
export type KeySpace = Record<
  string,
  | { list: string[] }
  | { hash: Record<string, string> }
  | { zset: [member: string, score: number][] }
  | { string: string }
  | { set: string[] }
  | { other: string }
>;

/** A connection to Redis, or what sends commands to one. */
interface Connection {
  sendCommand(words: string[]): Promise<unknown>;
}

/**
 * Reads the whole key space, without the product's code.
 * @param from the URL of a Redis, or a connection to it
 * @param stopsWrites whether writes wait meanwhile, so that all keys are of one moment. @default false
 */
export async function readKeySpace(from: string | Connection, stopsWrites = false): Promise<KeySpace> {
  if (typeof from !== "string") return keySpaceOf(from);
  const client = connectionTo(from);
  await client.connect();
  try {
    if (stopsWrites) await client.sendCommand(["CLIENT", "PAUSE", "600000", "WRITE"]);
    const space = await keySpaceOf(client);
    if (stopsWrites) await client.sendCommand(["CLIENT", "UNPAUSE"]);
    return space;
  } finally {
    client.destroy();
  }
}

/** The command that reads a key, by its type, and the words behind the key. */
const READ = `
local read = {
  string = { 'GET' }, set = { 'SMEMBERS' }, hash = { 'HGETALL' },
  list = { 'LRANGE', '0', '-1' }, zset = { 'ZRANGE', '0', '-1', 'WITHSCORES' },
}
local space = {}
for i, key in ipairs(redis.call('KEYS', '*')) do
  local kind = redis.call('TYPE', key).ok
  local words = read[kind]
  space[i] = { key, kind, words and redis.call(words[1], key, unpack(words, 2)) or '' }
end
return space`;

/** One command, because tests read all keys after each call, and each command costs more than what it reads. */
async function keySpaceOf(connection: Connection): Promise<KeySpace> {
  const read = (await connection.sendCommand(["EVAL_RO", READ, "0"])) as [string, string, string[]][];
  const values = read.map(([key, type, value]) => [key, valueOf(type, value)] as const);
  return Object.fromEntries(inOrder(values));
}

function valueOf(type: string, value: string[]): KeySpace[string] {
  if (type === "list") return { list: value };
  if (type === "hash") return { hash: Object.fromEntries(inOrder(pairs(value))) };
  if (type === "zset") return { zset: pairs(value).map(([member, score]) => [member, scoreOf(score)]) };
  if (type === "set") return { set: value.toSorted() };
  if (type === "string") return { string: String(value) };
  return { other: type };
}

const pairs = (flat: readonly string[]) =>
  Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i] ?? "", flat[2 * i + 1] ?? ""] as const);

const scoreOf = (text: string) => Number(text.replace("inf", "Infinity"));

const inOrder = <T>(entries: readonly (readonly [string, T])[]) =>
  entries.toSorted(([a], [b]) => (a < b ? -1 : 1));

/** The key space without the slots of dequeues, in which a resend leaves a mark. */
export function withoutSlots(space: KeySpace): KeySpace {
  const kept = Object.entries(space).map(([key, value]) => {
    if (!("hash" in value)) return [key, value] as const;
    const fields = Object.entries(value.hash).filter(([field]) => !/^~[rR]\d+$/.test(field));
    return [key, { hash: Object.fromEntries(fields) }] as const;
  });
  return Object.fromEntries(kept);
}

/** What the keys of a queue or partition have in common, behind the prefix: `{emails}`, `{emails}/0`, `{emails/3}`. */
export function tagged(name: string): string {
  return name.endsWith("/0") ? `{${name.slice(0, -2)}}/0` : `{${name}}`;
}

/** The keys of a queue that are sorted sets, by their name here. */
const ZSETS = {
  fair: "fair",
  fairByGroup: "fair-by-group",
  limited: "limited",
  working: "working",
  delayed: "delayed",
  expiry: "expiry",
  dead: "dead",
  workers: "workers",
  workerLeases: "worker-leases",
  schedules: "schedules",
} as const;

type Zsets = { readonly [name in keyof typeof ZSETS]: Map<string, number> };

/** The members of a sorted set; none if the key is missing. */
export function zsetIn(space: KeySpace, key: string): Map<string, number> {
  const value = space[key];
  return new Map(value && "zset" in value ? value.zset : []);
}

/** One queue's part of a key space; missing keys are empty. */
export interface QueueSpace extends Zsets {
  readonly pending: string[];
  readonly tasks: Map<string, string>;
  readonly timetable: Map<string, string>;
}

/** @param queue its name, or that of a partition */
export function queueSpace(space: KeySpace, queue: string, prefix = "sluice"): QueueSpace {
  const keyOf = (part: string) => `${prefix}:${tagged(queue)}:${part}`;
  const at = (part: string) => space[keyOf(part)] ?? { other: "" };
  const hash = (part: string) => {
    const value = at(part);
    return new Map(Object.entries("hash" in value ? value.hash : {}));
  };
  const pending = at("pending");
  const zsets = Object.entries(ZSETS).map(([name, part]) => [name, zsetIn(space, keyOf(part))]);
  return {
    pending: "list" in pending ? pending.list : [],
    tasks: hash("tasks"),
    timetable: hash("timetable"),
    ...(Object.fromEntries(zsets) as Zsets),
  };
}

/** The letters of the fields that a changing record has by position. */
const POSITIONS = "veacsnkql";

/** The fields of a changing record, by letter; see lua/README.md. */
export function says(record = ""): Record<string, string> {
  const found: Record<string, string> = {};
  const [line = ""] = record.split("\n", 1);
  const fields = line.split(";");
  for (let i = 1; i < fields.length; i++) {
    const field = fields[i] as string;
    const letter = POSITIONS[i - 1];
    if (letter === undefined) found[field.charAt(0)] = field.slice(2);
    else if (field !== "") found[letter] = field;
  }
  return found;
}

/** The control fields with matching names. */
export function controlFields({ tasks }: QueueSpace, names: RegExp): Record<string, string> {
  return Object.fromEntries([...tasks].filter(([field]) => field.startsWith("~") && names.test(field)));
}

/** The difference of two control fields: one counts additions, the other removals. */
export function counted(tasks: ReadonlyMap<string, string>, came: string, gone: string): number {
  return Number(tasks.get(came) ?? 0) - Number(tasks.get(gone) ?? 0);
}

/** The number of entries of `pending` that a queue counts as ghosts. */
export const ghostsOf = ({ tasks }: QueueSpace) => counted(tasks, "~ghosts", "~dropped");
