import { SluiceError } from "../errors.ts";
import { type Call, exchange } from "../kernel/call.ts";
import { MAX_BATCH } from "../kernel/options/limits.ts";
import type { Cancelled, RequestOptions } from "../kernel/options/types.ts";
import { listOf, onlyOptions, REQUEST_OPTIONS, taskId, wholeNumber } from "../kernel/options/validation.ts";
import { cancelScript } from "../kernel/scripts/cancel-script.ts";
import { cancel } from "../lua/linked/cancel.gen.ts";
import type { Shard } from "../kernel/shard.ts";
import { slicesOf } from "../kernel/slices.ts";
import type { Adds } from "../kernel/store.ts";
import type { SendOptions } from "../kernel/transport.ts";
import type { Removed } from "./list-tasks.ts";
import { removeScript } from "./operate-scripts.ts";
import type { OperatedQueue } from "./operated-queue.ts";

/** A task, and the lease number that it must have. */
export type TaskWithLease = string | { readonly id: string; readonly lease?: number | undefined };

/** That a task was left alone, because only a newer release can read it. */
interface Newer {
  readonly ok: false;
  readonly code: "newer_schema";
}

/** What became of each task, in the order of the ids. */
export type CancelledMany = readonly ({ readonly id: string } & (Cancelled | Newer))[];
export type RemovedMany = readonly ({ readonly id: string } & (Removed | Newer))[];

/** Most calls of one request. */
const SLICE = 100;

/** Cancels tasks: see `Operator.cancelMany`. */
export async function cancelTasks(
  { store }: OperatedQueue,
  ids: readonly TaskWithLease[],
  options: RequestOptions,
): Promise<CancelledMany> {
  onlyOptions(options, REQUEST_OPTIONS);
  const leases = leasesById(ids);
  const callOf = (shard: Shard, id: string) =>
    shard.call({ ...cancelScript, script: cancel }, { id, lease: leases.get(id) ?? "" });
  const found = await callForEach(store, [...leases.keys()], callOf, options);
  return found.map(({ id, status }) =>
    status === "rejected" || status === "working"
      ? { id, ok: true, state: status }
      : { id, ok: false, code: status },
  );
}

/** Deletes the records of tasks that have ended: see `Operator.removeMany`. */
export async function removeTasks(
  { store }: OperatedQueue,
  ids: readonly string[],
  options: RequestOptions,
): Promise<RemovedMany> {
  onlyOptions(options, REQUEST_OPTIONS);
  listOf(ids, "ids", MAX_BATCH);
  const checked = new Set(ids.map((id, i) => taskId(id, `ids[${i}]`)));
  const found = await callForEach(
    store,
    [...checked],
    (shard, id) => shard.call(removeScript, { id }),
    options,
  );
  return found.map(({ id, status }) =>
    status === "removed" ? { id, ok: true } : { id, ok: false, code: status },
  );
}

/**
 * The lease number of each task, as the scripts take it: empty for any.
 * @throws {SluiceError} `invalid_argument`
 */
export function leasesById(ids: readonly TaskWithLease[]): ReadonlyMap<string, string> {
  listOf(ids, "ids", MAX_BATCH);
  const leases = new Map<string, string>();
  for (const [i, item] of ids.entries()) {
    const { id, lease } = typeof item === "string" ? { id: item } : (item ?? {});
    const number = lease === undefined ? "" : wholeNumber(lease, `ids[${i}].lease`, 0, 2 ** 53 - 1);
    leases.set(taskId(id, `ids[${i}]`), String(number));
  }
  return leases;
}

/** Sends a call for each task to the shard that has it, a hundred in a request. */
function callForEach<Status extends string>(
  store: Adds,
  ids: readonly string[],
  callOf: (shard: Shard, id: string) => Call<Status>,
  options: SendOptions,
): Promise<readonly { readonly id: string; readonly status: Status | "newer_schema" }[]> {
  return store.over(async () => {
    await store.shards({ ...options, fresh: true });
    const statuses = new Map<string, Status | "newer_schema">();
    let placed = await Promise.all(ids.map(async (id) => ({ id, shards: await store.having(id, options) })));
    while (placed.length > 0) {
      const next: typeof placed = [];
      for (const slice of slicesOf(placed, SLICE)) {
        const calls = slice.map(({ id, shards }) => callOf(shards[0] as Shard, id));
        const replies = await exchange(store.queue.transport, calls, options);
        for (const [i, { id, shards }] of slice.entries()) {
          const status = statusOf(replies[i] as () => Status);
          if (status === "not_found" && shards.length > 1) next.push({ id, shards: shards.slice(1) });
          else statuses.set(id, status);
        }
      }
      placed = next;
    }
    return ids.map((id) => ({ id, status: statuses.get(id) as Status | "newer_schema" }));
  }, options);
}

function statusOf<Status>(read: () => Status): Status | "newer_schema" {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof SluiceError) || error.code !== "newer_schema") throw error;
    return "newer_schema";
  }
}
