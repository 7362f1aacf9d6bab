/** The limits of a queue with partitions: each partition has a share of them. */
import { commandCall, exchange, run } from "../../kernel/call.ts";
import { inOrder } from "./map.ts";
import { partitionOf, type PartitionedQueue } from "./partitioned-queue.ts";
import { divide, stepTowards, type Division, type Use } from "./share-targets.ts";
import {
  type Each,
  eachKind,
  type Kind,
  KINDS,
  type Limits,
  limitsOf,
  type LimitShares,
  readShares,
  type Shares,
  writeShares,
} from "./shares-record.ts";
import { putSharesScript, setSharesScript } from "./upkeep-scripts.ts";

/** What a partition answers to its shares. */
interface Noted {
  readonly pending: number;
  readonly working: number;
  /** Dequeues within the last period of the rate. */
  readonly dequeued: number;
  readonly wake: boolean;
}

/** Most steps of one call. Three are enough if no other caller changes the shares meanwhile. */
const MAX_STEPS = 12;

/**
 * Moves the shares of a queue's limits to where tasks wait, and gives partitions without shares theirs. At no time
 * do the partitions together allow more than a limit, also if several callers do this, or one stops in between:
 * a step begins when all partitions have noted the step before, and is written only if no other has begun.
 *
 * One command if the queue has no limits.
 * @param partitions all that may have tasks, or are to get some
 * @param wake how long a wake of a consumer counts, ms, as the scripts take it. @default no consumer is woken
 * @returns whether the caller must wake a consumer
 * @throws {SluiceError} if a partition cannot be reached. The shares are then as safe as before
 */
export async function rebalanceShares(
  queue: PartitionedQueue,
  partitions: readonly number[],
  wake = "",
): Promise<boolean> {
  let mustWake = false;
  let wanted: Each<Division | undefined> | undefined;
  let current = await storedShares(queue);
  // The latest version that a partition has noted: later than the stored one if a failover has set that back.
  let latest = 0;
  if (current.shares.version === 0 && KINDS.every((kind) => !current.limits[kind])) return false;
  for (let step = 0; step < MAX_STEPS; step++) {
    const { shares, limits } = current;
    const all = inOrder([...partitions, ...shares.partitions]);
    const hasShares = shares.version > 0 && shares.version >= latest;
    const noted = hasShares ? await setShares(queue, shares, all, wake) : undefined;
    if (typeof noted === "number") {
      latest = noted;
      [current, wanted] = [await storedShares(queue), undefined];
      continue;
    }
    mustWake ||= noted?.some((one) => one.wake) ?? false;
    const steps = eachKind((kind) => {
      const limit = limits[kind];
      const uses = usesOf(kind, current, all, partitions, noted);
      const first = shares.limits[kind]?.first ?? 0;
      const target = limit && (wanted?.[kind] ?? divide(limit.limit, uses, first));
      const step = limit && target && { ...limit, ...stepTowards(limit.limit, uses, target, first) };
      return { uses, target, step };
    });
    // Divided by what the partitions hold, as soon as that is known, and once: else a rotation would not end.
    if (noted) wanted = eachKind((kind) => steps[kind].target);
    const next = eachKind((kind) => steps[kind].step);
    const isSame = noted !== undefined && sameShares(shares.limits, next, all);
    const now = queue.now?.() ?? Date.now();
    const version = isSame ? shares.version : Math.max(shares.version + 1, latest + 1, now);
    const isInUse = (i: number) =>
      KINDS.some((kind) => (steps[kind].uses[i]?.share ?? 0) + (steps[kind].uses[i]?.used ?? 0) > 0);
    const kept = all.filter((partition, i) => partitions.includes(partition) || !isSame || isInUse(i));
    const written = writeShares({ version, done: isSame, partitions: kept, limits: next });
    if (written.text === shares.text) return mustWake;
    const put = partitionOf(queue, 0).call(putSharesScript, { was: shares.text, shares: written.text });
    if ((await run(queue.transport, put, queue)) !== written.text)
      [current, wanted] = [await storedShares(queue), undefined];
    else if (isSame) return mustWake;
    else current = { shares: written, limits };
  }
  return mustWake;
}

function sameShares(was: Shares["limits"], next: Shares["limits"], all: readonly number[]): boolean {
  return KINDS.every((kind) => {
    const [before, after] = [was[kind], next[kind]];
    if (before?.limit !== after?.limit || before?.per !== after?.per) return false;
    return all.every((partition) => before?.shares.get(partition) === after?.shares.get(partition));
  });
}

/**
 * What each partition has of a limit, and uses.
 * @param active those that may get tasks
 * @param noted what each holds. @default unknown
 */
function usesOf(
  kind: Kind,
  { shares, limits }: { readonly shares: Shares; readonly limits: Limits },
  all: readonly number[],
  active: readonly number[],
  noted: readonly Noted[] | undefined,
): Use[] {
  const was = shares.limits[kind];
  // Counts of another period say nothing about this one.
  const isKnown = noted !== undefined && was !== undefined && was.per === limits[kind]?.per;
  return all.map((partition, i) => {
    const { pending = 0, working = 0, dequeued = 0 } = noted?.[i] ?? {};
    return {
      partition,
      // A partition that came later was sent 0.
      share: isKnown ? (was.shares.get(partition) ?? 0) : null,
      used: { working, rate: dequeued, pending }[kind],
      waiting: kind === "pending" ? 0 : pending,
      active: active.includes(partition),
    };
  });
}

/** Reads the shares, and the limits of the whole queue. One command. */
function storedShares(queue: PartitionedQueue) {
  const { tasks } = partitionOf(queue, 0).keys;
  const call = commandCall(["HMGET", tasks, "~shares", "~set"], (reply) => {
    const [shares, set] = reply as readonly (string | null)[];
    return { shares: readShares(shares ?? ""), limits: limitsOf(set ?? "") };
  });
  return run(queue.transport, call, queue);
}

/**
 * Sends all partitions their shares.
 * @returns what each holds, as it notes them; or the version that one has noted, if it is a later one
 */
async function setShares(
  queue: PartitionedQueue,
  { version, limits }: Shares,
  partitions: readonly number[],
  wake: string,
): Promise<readonly Noted[] | number> {
  const calls = partitions.map((partition) => {
    // A partition that came later has none yet.
    const shareOf = (limit: LimitShares | undefined) =>
      limit ? String(limit.shares.get(partition) ?? 0) : "";
    const rate = shareOf(limits.rate);
    return partitionOf(queue, partition).call(setSharesScript, {
      version: String(version),
      maxWorking: shareOf(limits.working),
      rate: rate && `${rate}/${limits.rate?.per}`,
      maxPending: shareOf(limits.pending),
      wake,
    });
  });
  const noted: Noted[] = [];
  // One after the other: behind a later version, an error of another partition waits for the shares of that version.
  for (const read of await exchange(queue.transport, calls, queue)) {
    const reply = read();
    if (reply.noted !== undefined) return reply.noted;
    noted.push(reply);
  }
  return noted;
}
