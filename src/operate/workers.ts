import { invalidArgument } from "../errors.ts";
import { run, runAll } from "../kernel/call.ts";
import type { Shard } from "../kernel/shard.ts";
import { MAX_BATCH } from "../kernel/options/limits.ts";
import { writeWorker } from "../kernel/record/record.ts";
import { readWorker } from "../kernel/record/read-record.ts";
import type { ListOptions, RequestOptions, WorkerName } from "../kernel/options/types.ts";
import {
  escaped,
  LIST_OPTIONS,
  nextCursor,
  onlyOptions,
  pageArguments,
  recordName,
  REQUEST_OPTIONS,
  wholeNumber,
} from "../kernel/options/validation.ts";
import { MAX_STEP } from "./paged-run.ts";
import { failWorkerScript, forgetWorkerScript, listWorkersScript } from "./operate-scripts.ts";
import { readWorkerInfo } from "../kernel/lease/worker-info.ts";
import type { OperatedQueue } from "./operated-queue.ts";

/** Most ids of tasks that the list has for each worker. */
const MAX_LISTED_TASKS = 100;

/** Workers that a script call reads: more would keep Redis busy for too long. */
const LISTED_PER_CALL = 250;

/** A worker as the list shows it. Instants are epoch ms. */
export interface WorkerInfo extends WorkerName {
  readonly node?: string | undefined;
  readonly pid?: number | undefined;
  /** As the worker reported it last, ms; absent if no sweep fails the worker. */
  readonly silentAfter?: number | undefined;
  /** As the worker reported it last, ms. A server beats each minute, and is gone after two and a half. */
  readonly goneAfter?: number | undefined;
  /**
   * `working` with tasks and `idle` without, while it gives signs of life; `gone` if it has missed them for longer than it
   * said, or was failed. Absent if the worker gave neither `goneAfter` nor `silentAfter`: only `seenAt` is known then.
   */
  readonly state?: "working" | "idle" | "gone" | undefined;
  /** Its last dequeue, heartbeat or extended lease of its first tasks; null if it was failed. */
  readonly seenAt: number | null;
  /**
   * When its tasks were taken from it; absent if it has dequeued since, or lost none. A process that hangs does not
   * come back by itself: restart it. The worker is listed for an hour from then on.
   */
  readonly failedAt?: number | undefined;
  /**
   * When the worker counts as silent, unless it dequeues or sends a heartbeat before. A sweep then fails it.
   * An extended lease is not enough, as its call need not name the worker. A worker without `silentAfter`, or that
   * was failed, is not failed, but leaves the list then, if it has no tasks.
   */
  readonly silentAt: number;
  /** How many tasks it has. */
  readonly working: number;
  /** Their ids, at most 100, in the order of their leases. */
  readonly tasks: readonly string[];
}

export interface WorkerPage {
  readonly workers: readonly WorkerInfo[];
  /** Redis's time, epoch ms. */
  readonly now: number;
  /** For the next page; null after the last. */
  readonly cursor: string | null;
}

/** `size`: about this many workers. */
export type ListWorkersOptions = ListOptions;

/** The tasks of a failed worker. */
export interface WorkerFailed {
  /**
   * Tasks that became pending again: at the front, or with a group or a priority at the back of their group.
   */
  readonly returned: number;
  /** Tasks that had no attempt left, or were cancelled. */
  readonly rejected: number;
  /**
   * True if the limit was reached: call again for the rest. Otherwise a sweep continues, once the worker
   * counts as silent.
   */
  readonly more: boolean;
}

/** `still_working`: the worker stays, because it has `working` tasks. */
export type WorkerForgotten =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: "still_working"; readonly working: number };

/** Reads a page of the workers: see `Operator.workers`. */
export async function listWorkers(
  { store }: OperatedQueue,
  options: ListWorkersOptions,
): Promise<WorkerPage> {
  onlyOptions(options, LIST_OPTIONS);
  const readPage = async (shard: Shard, bounds: ReturnType<typeof pageArguments>) => {
    const call = shard.call(listWorkersScript, { ...bounds, most: String(MAX_LISTED_TASKS) });
    const page = await run(store.queue.transport, call, options);
    return { ...page, workers: page.workers.map((worker) => toWorkerInfo(worker, page.now)) };
  };
  return store.over(async () => {
    const shards = await store.shards({ ...options, fresh: true });
    if (shards.length > 1) return readWorkersOfAll(shards, options, readPage);
    const page = await readPage(store.shard(0), pageArguments(options));
    return { workers: page.workers, now: page.now, cursor: nextCursor(page.cursor) };
  }, options);
}

/**
 * Reads a page of the workers of all shards, in the order of their names. A worker that works for several shards comes
 * once. The cursor is the last worker of the page.
 * @param readPage reads a page of the workers of one shard
 * @throws {SluiceError} `invalid_argument`
 */
async function readWorkersOfAll(
  shards: readonly Shard[],
  { cursor: after, size: given }: ListOptions,
  readPage: (
    shard: Shard,
    bounds: { readonly cursor: string; readonly size: string },
  ) => Promise<Omit<WorkerPage, "cursor"> & { readonly cursor: string }>,
): Promise<WorkerPage> {
  const size = wholeNumber(given ?? 100, "size", 1, MAX_BATCH);
  if (after !== undefined && (typeof after !== "string" || !/^[!-~]{1,400} [!-~]{0,400}$/.test(after))) {
    throw invalidArgument("cursor", "must be the cursor of an earlier page");
  }
  const workers = new Map<string, WorkerInfo>();
  let now = 0;
  const readAll = async (shard: Shard) => {
    let cursor = "0";
    do {
      const page = await readPage(shard, { cursor, size: String(LISTED_PER_CALL) });
      for (const worker of page.workers) {
        const name = nameOf(worker);
        const known = workers.get(name);
        workers.set(name, known ? merged(known, worker) : worker);
      }
      now = Math.max(now, page.now);
      ({ cursor } = page);
    } while (cursor !== "0");
  };
  await Promise.all(shards.map(readAll));
  const rest = [...workers].filter(([name]) => after === undefined || name > after);
  const page = rest.toSorted(([one], [other]) => (one < other ? -1 : 1)).slice(0, size);
  const cursor = page.length < rest.length ? (page.at(-1)?.[0] ?? null) : null;
  return { workers: page.map(([, worker]) => worker), now, cursor };
}

const nameOf = ({ name, incarnation = "" }: WorkerName) => `${escaped(name)} ${escaped(incarnation)}`;

/** One worker, from what two shards have of it. What happened last counts: a report of its own, or its failure. */
function merged(one: WorkerInfo, other: WorkerInfo): WorkerInfo {
  const at = ({ seenAt, failedAt }: WorkerInfo) => Math.max(seenAt ?? 0, failedAt ?? 0);
  const [late, early] = at(one) >= at(other) ? [one, other] : [other, one];
  const working = late.working + early.working;
  const isAlive = late.state === "idle" || late.state === "working";
  return {
    ...late,
    ...(isAlive && { state: stateWith(working) }),
    silentAt: Math.max(late.silentAt, early.silentAt),
    working,
    tasks: [...late.tasks, ...early.tasks].slice(0, MAX_LISTED_TASKS),
  };
}

/** The limits of the script calls that fail so many tasks. */
function stepsOf(count: number): number[] {
  return Array.from({ length: Math.ceil(count / MAX_STEP) }, (_, i) =>
    Math.min(MAX_STEP, count - i * MAX_STEP),
  );
}

/** Fails a worker that is dead: see `Operator.failWorker`. */
export async function failWorker(
  { store }: OperatedQueue,
  worker: string | WorkerName,
  options: RequestOptions & { readonly limit?: number | undefined },
): Promise<WorkerFailed> {
  onlyOptions(options, ["limit", ...REQUEST_OPTIONS]);
  const limit = wholeNumber(options.limit ?? MAX_BATCH, "limit", 1, MAX_BATCH);
  const args = {
    worker: typeof worker === "string" ? recordName(worker, "worker") : writeWorker(worker, "worker"),
    wake: store.wakeWindow(),
  };
  return store.over(async () => {
    const shards = await store.shards({ ...options, fresh: true });
    // Each shard gets a part of the limit. Those that get none are for the next call.
    const limits = shards.map((_, i) => Math.floor((limit + shards.length - 1 - i) / shards.length));
    const asked = shards.flatMap((shard, i) => (limits[i] ? [{ shard, left: limits[i] }] : []));
    const total = { returned: 0, rejected: 0 };
    const unfinished = new Set<Shard>();
    let wake = false;
    const fail = async (parts: typeof asked) => {
      const steps = parts.flatMap(({ shard, left }) => stepsOf(left).map((limit) => ({ shard, limit })));
      const calls = steps.map(({ shard, limit }) => {
        const note = shard.isPart ? shard.note() : undefined;
        return shard.call(failWorkerScript, { ...args, limit: String(limit) }, [], note);
      });
      const replies = await runAll(store.queue.transport, calls, options);
      for (const [i, reply] of replies.entries()) {
        total.returned += reply.failed.returned;
        total.rejected += reply.failed.rejected;
        unfinished[reply.failed.more ? "add" : "delete"]((steps[i] as (typeof steps)[number]).shard);
        wake ||= reply.wake;
        store.expired(reply.deadLetters);
      }
    };
    // Most workers have few tasks, so only one that has more gets several calls.
    await fail(asked.map(({ shard, left }) => ({ shard, left: Math.min(left, MAX_STEP) })));
    const others = asked.map(({ shard, left }) => ({ shard, left: left - MAX_STEP }));
    await fail(others.filter(({ shard, left }) => left > 0 && unfinished.has(shard)));
    await store.ready({ now: wake });
    return { ...total, more: asked.length < shards.length || unfinished.size > 0 };
  }, options);
}

/** Takes a worker that has ended off the list: see `Operator.forgetWorker`. */
export async function forgetWorker(
  { store }: OperatedQueue,
  worker: WorkerName,
  options: RequestOptions,
): Promise<WorkerForgotten> {
  onlyOptions(options, REQUEST_OPTIONS);
  const args = { worker: writeWorker(worker, "worker") };
  return store.over(async () => {
    const shards = await store.shards({ ...options, fresh: true });
    const calls = shards.map((shard) => shard.call(forgetWorkerScript, args));
    const replies = await runAll(store.queue.transport, calls, options);
    const working = replies.reduce((sum, count) => sum + count, 0);
    return working > 0 ? { ok: false, code: "still_working", working } : { ok: true };
  }, options);
}

type ListedWorker = ReturnType<typeof listWorkersScript.decode>["workers"][number];

function toWorkerInfo(
  { worker, record, failure, extendedAt, ...rest }: ListedWorker,
  now: number,
): WorkerInfo {
  const name = readWorker(worker);
  if (record === "") {
    const { seenAt: failedAt, silentAfter: _, goneAfter: __, ...where } = readWorkerInfo(failure);
    return {
      ...name,
      ...where,
      state: "gone",
      seenAt: null,
      ...(failedAt !== null && { failedAt }),
      ...rest,
    };
  }
  const info = readWorkerInfo(record);
  const seenAt = Math.max(info.seenAt ?? 0, extendedAt);
  const aliveFor = info.silentAfter ?? info.goneAfter;
  if (aliveFor === undefined) return { ...name, ...info, seenAt, ...rest };
  const isGone = seenAt + aliveFor <= now;
  return { ...name, ...info, state: isGone ? "gone" : stateWith(rest.working), seenAt, ...rest };
}

const stateWith = (working: number) => (working > 0 ? "working" : "idle");
