import { createClient } from "@redis/client";

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

type Client = ReturnType<typeof newClient>;

// A limit would also count the time for which the machine gives this process none.
const newClient = (url: string) => createClient({ url, RESP: 2, socket: { connectTimeout: 0 } });

/**
 * Reads the whole key space, without the product's code.
 * @param from the URL of a Redis, or a connection to it
 * @param stopsWrites whether writes wait meanwhile, so that all keys are of one moment. @default false
 */
export async function readKeySpace(from: string | Client, stopsWrites = false): Promise<KeySpace> {
  if (typeof from !== "string") return keySpaceOf(from);
  const client = newClient(from);
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

async function keySpaceOf(client: Client): Promise<KeySpace> {
  const keys = (await client.keys("*")).toSorted();
  const types = await Promise.all(keys.map((key) => client.type(key)));
  const values = await Promise.all(keys.map((key, i) => valueOf(client, key, types[i] ?? "")));
  return Object.fromEntries(keys.map((key, i) => [key, values[i] ?? { other: "" }]));
}

async function valueOf(client: Client, key: string, type: string): Promise<KeySpace[string]> {
  if (type === "list") return { list: await client.lRange(key, 0, -1) };
  if (type === "hash") return { hash: sorted({ ...(await client.hGetAll(key)) }) };
  if (type === "zset") {
    const members = await client.zRangeWithScores(key, 0, -1);
    return { zset: members.map(({ value, score }) => [value, score]) };
  }
  if (type === "set") return { set: (await client.sMembers(key)).toSorted() };
  if (type === "string") return { string: (await client.get(key)) ?? "" };
  return { other: type };
}

/** The key space without the slots of dequeues, in which a resend leaves a mark. */
export function withoutSlots(space: KeySpace): KeySpace {
  const kept = Object.entries(space).map(([key, value]) => {
    if (!("hash" in value)) return [key, value] as const;
    const fields = Object.entries(value.hash).filter(([field]) => !/^~[rR]\d+$/.test(field));
    return [key, { hash: Object.fromEntries(fields) }] as const;
  });
  return Object.fromEntries(kept);
}

function sorted(hash: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(hash).toSorted(([a], [b]) => (a < b ? -1 : 1)));
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

/** One queue's part of a key space; missing keys are empty. */
export interface QueueSpace extends Zsets {
  readonly pending: string[];
  readonly tasks: Map<string, string>;
  readonly timetable: Map<string, string>;
}

/** @param queue its name, or that of a partition */
export function queueSpace(space: KeySpace, queue: string, prefix = "sluice"): QueueSpace {
  const at = (part: string) => space[`${prefix}:${tagged(queue)}:${part}`] ?? { other: "" };
  const zset = (part: string) => {
    const value = at(part);
    return new Map("zset" in value ? value.zset : []);
  };
  const hash = (part: string) => {
    const value = at(part);
    return new Map(Object.entries("hash" in value ? value.hash : {}));
  };
  const pending = at("pending");
  const zsets = Object.entries(ZSETS).map(([name, part]) => [name, zset(part)]);
  return {
    pending: "list" in pending ? pending.list : [],
    tasks: hash("tasks"),
    timetable: hash("timetable"),
    ...(Object.fromEntries(zsets) as Zsets),
  };
}

/** Like {@link queueSpace}, over an existing connection, in a few reads at once. */
export async function readQueueSpace(
  client: { sendCommand(words: string[]): Promise<unknown> },
  queue: string,
): Promise<QueueSpace> {
  const read = (command: string, part: string, ...words: string[]) =>
    client.sendCommand([command, `sluice:${tagged(queue)}:${part}`, ...words]) as Promise<string[]>;
  const pairs = (flat: readonly string[]) =>
    Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i] ?? "", flat[2 * i + 1] ?? ""] as const);
  const hash = async (part: string) => new Map(pairs(await read("HGETALL", part)));
  const zset = async ([name, part]: readonly [string, string]) => {
    const members = pairs(await read("ZRANGE", part, "0", "-1", "WITHSCORES"));
    return [name, new Map(members.map(([member, score]) => [member, Number(score)]))] as const;
  };
  const [pending, tasks, timetable, ...zsets] = await Promise.all([
    read("LRANGE", "pending", "0", "-1"),
    hash("tasks"),
    hash("timetable"),
    ...Object.entries(ZSETS).map(zset),
  ]);
  return { pending, tasks, timetable, ...(Object.fromEntries(zsets) as Zsets) };
}

/** The fields of a changing record, by letter; see lua/README.md. */
export function says(record: string | undefined): Record<string, string> {
  const found: Record<string, string> = {};
  const fields = (record ?? "").split("\n")[0]?.split(";").slice(1) ?? [];
  for (const [i, field] of fields.entries()) {
    const letter = "veacsnkql"[i];
    if (letter === undefined) found[field.slice(0, 1)] = field.slice(2);
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
