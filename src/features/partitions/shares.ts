/** The limits of a queue with partitions: each partition has a share of them. */
import { newerSchema, SluiceError } from "../../errors.ts";
import { nameOfShard, queueKeys } from "../../kernel/names/keys.ts";
import { digitOf, placeOf } from "../../kernel/names/slots.ts";
import { readSettings } from "../../kernel/record/settings-record.ts";
import { callOf } from "../../kernel/scripts/binding.ts";
import { putSharesScript, setSharesScript } from "./upkeep-scripts.ts";
import { replyAt } from "../../kernel/scripts/replies.ts";
import type { PartitionedQueue } from "./partitioned-queue.ts";
import { divide, isDivided, stepTowards, type Division, type Use } from "./share-targets.ts";

/** The limits that are shared. */
const KINDS = ["working", "rate", "pending"] as const;
type Kind = (typeof KINDS)[number];

/** One limit and its shares. */
interface LimitShares extends Division {
  /** The limit that was divided. */
  readonly limit: number;
  /** Of a rate: its period, ms. */
  readonly per: number;
}

/** What the control field `~shares` of partition 0 holds. */
interface Shares {
  /** Rises with each change. Later than any that a deleted queue had, because it is a time, epoch ms. */
  readonly version: number;
  /** Whether all partitions have noted these shares, and no step is left to do. */
  readonly done: boolean;
  readonly partitions: readonly number[];
  readonly limits: Readonly<Record<Kind, LimitShares | undefined>>;
  /** As it is stored; empty if there are none. */
  readonly text: string;
}

/** A limit of the whole queue. */
type Limits = Readonly<Record<Kind, { readonly limit: number; readonly per: number } | undefined>>;

/** How much a partition holds. */
export interface PartitionLoad {
  readonly pending: number;
  readonly working: number;
}

/** What a partition answers to its shares. */
interface Noted extends PartitionLoad {
  readonly dequeued: number;
}

type SharesReply =
  | { readonly later: number }
  | { readonly later?: undefined; readonly loads: ReadonlyMap<number, Noted>; readonly wake: boolean };

export interface RebalanceOptions {
  /** The counts of the partitions; if the shares fit them, nothing is sent. @default unknown */
  readonly loads?: ReadonlyMap<number, PartitionLoad> | undefined;
  /** The test clock as the scripts take it. @default Redis's time */
  readonly testNow?: string | undefined;
  /** How long a wake of a consumer counts, ms, as the scripts take it. @default no consumer is woken */
  readonly wake?: string | undefined;
}

/** Most steps of one call. Three are enough if no other caller changes the shares meanwhile. */
const MAX_STEPS = 12;

const NO_SHARES: Shares = {
  version: 0,
  done: false,
  partitions: [],
  limits: { working: undefined, rate: undefined, pending: undefined },
  text: "",
};

/**
 * Moves the shares of a queue's limits to where tasks wait, and gives partitions without shares theirs. At no time
 * do the partitions together allow more than a limit, also if several callers do this, or one stops in between:
 * a step begins when all partitions have noted the step before, and is written only if no other has begun.
 *
 * One command if the queue has no limits, or if the shares fit the given loads.
 * @param partitions all that may have tasks, or are to get some
 * @returns whether the caller must wake a consumer
 * @throws {SluiceError} if a partition cannot be reached. The shares are then as safe as before
 */
export async function rebalanceShares(
  queue: PartitionedQueue,
  partitions: readonly number[],
  options: RebalanceOptions = {},
): Promise<boolean> {
  let wake = false;
  let wanted: Readonly<Record<Kind, Division | undefined>> | undefined;
  let current = await readShares(queue);
  // The latest version that a partition has noted: later than the stored one if a failover has set that back.
  let latest = 0;
  if (isSettled(current, partitions, options.loads)) return false;
  for (let step = 0; step < MAX_STEPS; step++) {
    const { shares, limits } = current;
    const all = inOrder([...partitions, ...shares.partitions]);
    const hasShares = shares.version > 0 && shares.version >= latest;
    const reply = hasShares ? await setShares(queue, shares, all, options) : undefined;
    if (reply?.later !== undefined) {
      latest = reply.later;
      [current, wanted] = [await readShares(queue), undefined];
      continue;
    }
    wake ||= reply?.wake ?? false;
    const usesBy = eachKind((kind) => usesOf(kind, shares, limits, all, partitions, reply?.loads));
    const target =
      wanted ??
      eachKind((kind) => {
        const limit = limits[kind]?.limit;
        return limit === undefined ? undefined : divide(limit, usesBy[kind], shares.limits[kind]?.first ?? 0);
      });
    // Divided by what the partitions hold, as soon as that is known, and once: else a rotation would not end.
    if (reply) wanted = target;
    const next = eachKind((kind): LimitShares | undefined => {
      const [limit, division, first = 0] = [limits[kind], target[kind], shares.limits[kind]?.first];
      return limit && division && { ...limit, ...stepTowards(limit.limit, usesBy[kind], division, first) };
    });
    const isSame = reply !== undefined && sameShares(shares, next, all);
    const version = isSame ? shares.version : Math.max(shares.version + 1, latest + 1, timeOf(options));
    const isInUse = (partition: number) =>
      KINDS.some((kind) => {
        const use = usesBy[kind].find((one) => one.partition === partition);
        return (use?.share ?? 0) + (use?.used ?? 0) > 0;
      });
    const kept = all.filter((partition) => partitions.includes(partition) || !isSame || isInUse(partition));
    const written = writeShares({ version, done: isSame, partitions: kept, limits: next });
    if (written.text === shares.text) return wake;
    const found = await putShares(queue, shares, written);
    if (found !== written.text) [current, wanted] = [await readShares(queue), undefined];
    else if (isSame) return wake;
    else current = { shares: written, limits };
  }
  return wake;
}

const inOrder = (partitions: readonly number[]) =>
  [...new Set(partitions)].toSorted((one, other) => one - other);

const timeOf = ({ testNow }: RebalanceOptions) => (testNow ? Number(testNow) : Date.now());

function eachKind<T>(of: (kind: Kind) => T): Record<Kind, T> {
  return { working: of("working"), rate: of("rate"), pending: of("pending") };
}

/** Whether nothing is to do: the queue has no limits, or its shares fit the loads. */
function isSettled(
  { shares, limits }: { readonly shares: Shares; readonly limits: Limits },
  partitions: readonly number[],
  loads: RebalanceOptions["loads"],
): boolean {
  if (shares.version === 0) return KINDS.every((kind) => limits[kind] === undefined);
  if (!shares.done || !loads || !sameLimits(shares, limits)) return false;
  if (shares.partitions.join() !== inOrder(partitions).join()) return false;
  const noted = new Map(Array.from(loads, ([partition, load]) => [partition, { ...load, dequeued: 0 }]));
  return KINDS.every((kind) => {
    const limit = limits[kind];
    return (
      !limit || isDivided(limit.limit, usesOf(kind, shares, limits, partitions, partitions, noted), kind)
    );
  });
}

function sameLimits(shares: Shares, limits: Limits): boolean {
  return KINDS.every((kind) => {
    const [was, is] = [shares.limits[kind], limits[kind]];
    return was?.limit === is?.limit && was?.per === is?.per;
  });
}

function sameShares(was: Shares, next: Shares["limits"], all: readonly number[]): boolean {
  if (!sameLimits(was, next)) return false;
  return KINDS.every((kind) =>
    all.every((partition) => was.limits[kind]?.shares.get(partition) === next[kind]?.shares.get(partition)),
  );
}

/** What each partition has of a limit, and uses. */
function usesOf(
  kind: Kind,
  shares: Shares,
  limits: Limits,
  all: readonly number[],
  active: readonly number[],
  noted: ReadonlyMap<number, Noted> | undefined,
): Use[] {
  const was = shares.limits[kind];
  // Counts of another period say nothing about this one.
  const isKnown = noted !== undefined && was !== undefined && was.per === limits[kind]?.per;
  return all.map((partition) => {
    const { pending = 0, working = 0, dequeued = 0 } = noted?.get(partition) ?? {};
    const used = { working, rate: dequeued, pending }[kind];
    return {
      partition,
      // A partition that came later was sent 0.
      share: isKnown ? (was.shares.get(partition) ?? 0) : null,
      used,
      waiting: kind === "pending" ? 0 : pending,
      active: active.includes(partition),
    };
  });
}

/** Reads the shares, and the limits of the whole queue. One command. */
async function readShares({ name, prefix, transport, signal }: PartitionedQueue) {
  const { tasks } = queueKeys(nameOfShard(name, 0), prefix);
  const outcomes = await transport.send([["HMGET", tasks, "~shares", "~set"]], { signal });
  const [shares, set] = replyAt(outcomes, 0) as readonly (string | null)[];
  return { shares: parseShares(shares ?? ""), limits: limitsOf(set ?? "") };
}

/** The limits of the whole queue, by the settings of partition 0. */
function limitsOf(record: string): Limits {
  const set = readSettings(record);
  const shared = set.shares !== undefined;
  const count = (text: string | undefined) =>
    text === undefined ? undefined : { limit: Number(text), per: 0 };
  const rate = shared ? set.totalRate : set.rate;
  const [most, per] = (rate ?? "").split("/");
  return {
    working: count(shared ? set.totalWorking : set.maxWorking),
    rate: rate === undefined ? undefined : { limit: Number(most), per: Number(per) },
    pending: count(shared ? set.totalPending : set.maxPending),
  };
}

/**
 * Sends all partitions their shares.
 * @returns what each holds, as it notes them; or the version that one has noted, if it is a later one
 */
async function setShares(
  { name, prefix, transport, signal }: PartitionedQueue,
  { version, limits }: Shares,
  partitions: readonly number[],
  { testNow = "", wake = "" }: RebalanceOptions,
): Promise<SharesReply> {
  const shareOf = (kind: Kind, partition: number) => {
    const limit = limits[kind];
    // A partition that came later has none yet.
    return limit ? String(limit.shares.get(partition) ?? 0) : "";
  };
  const calls = partitions.map((partition) => {
    const most = shareOf("rate", partition);
    return callOf(setSharesScript, queueKeys(nameOfShard(name, partition), prefix), {
      testNow,
      version: String(version),
      maxWorking: shareOf("working", partition),
      rate: most && `${most}/${limits.rate?.per}`,
      maxPending: shareOf("pending", partition),
      wake,
    });
  });
  const outcomes = await transport.send(calls, { signal });
  const loads = new Map<number, Noted>();
  let wakes = false;
  for (const [i, partition] of partitions.entries()) {
    const reply = setSharesScript.decode(replyAt(outcomes, i));
    if (reply.noted !== undefined) return { later: reply.noted };
    wakes ||= reply.wake;
    loads.set(partition, reply);
  }
  return { loads, wake: wakes };
}

async function putShares(
  { name, prefix, transport, signal }: PartitionedQueue,
  was: Shares,
  { text }: Shares,
): Promise<string> {
  const call = callOf(putSharesScript, queueKeys(nameOfShard(name, 0), prefix), {
    was: was.text,
    shares: text,
  });
  return putSharesScript.decode(replyAt(await transport.send([call], { signal }), 0));
}

/**
 * Writes shares as they are stored: `1;<version>;<1 if done>;<partitions>`, then `;<letter>=<limit>,<first>,<share>…`
 * for each limit.
 */
function writeShares(shares: Omit<Shares, "text">): Shares {
  const { version, done, partitions, limits } = shares;
  const parts = ["1", version, done ? "1" : "0", partitions.map(digitOf).join("")];
  for (const kind of KINDS) {
    const limit = limits[kind];
    if (!limit) continue;
    const most = kind === "rate" ? `${limit.limit}/${limit.per}` : limit.limit;
    const given = partitions.map((partition) => limit.shares.get(partition) ?? 0);
    parts.push(`${LETTERS[kind]}=${[most, limit.first, ...given].join(",")}`);
  }
  return { ...shares, text: parts.join(";") };
}

const LETTERS = { working: "m", rate: "r", pending: "b" } as const;

/** @throws {SluiceError} `newer_schema`, or `unexpected_reply` if they are damaged */
function parseShares(text: string): Shares {
  if (text === "") return NO_SHARES;
  if (/^\d+;/.test(text) && !text.startsWith("1;")) throw newerSchema("the shares of a queue's partitions");
  const [, version = "", done, digits = "", rest = ""] =
    /^1;(\d{1,15});([01]);([0-9A-Za-z]*)((?:;[a-z]=[\d,/]+)*)$/.exec(text) ?? [];
  if (version === "")
    throw new SluiceError("unexpected_reply", "the shares of a queue's partitions are damaged");
  const partitions = Array.from(digits, placeOf);
  const given = new Map(rest.split(";").map((part) => part.split("=") as [string, string]));
  const limits = eachKind((kind): LimitShares | undefined => {
    const values = given.get(LETTERS[kind]);
    if (values === undefined) return undefined;
    const [most = "", first, ...shares] = values.split(",");
    const [limit, per = "0"] = most.split("/");
    return {
      limit: Number(limit),
      per: Number(per),
      first: Number(first),
      shares: new Map(partitions.map((partition, i) => [partition, Number(shares[i])])),
    };
  });
  return { version: Number(version), done: done === "1", partitions, limits, text };
}
