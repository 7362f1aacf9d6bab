import { invalidArgument } from "../errors.ts";
import { run } from "../kernel/call.ts";
import type { ArgumentsOf, Shard } from "../kernel/shard.ts";
import { retryableReasons, type RequestOptions } from "../kernel/options/types.ts";
import { onlyOptions, REQUEST_OPTIONS, trueOrFalse } from "../kernel/options/validation.ts";
import { groupedBy } from "../kernel/slices.ts";
import { redisTime } from "../kernel/clock.ts";
import { redriveScript } from "./operate-scripts.ts";
import { FILTER_OPTIONS, writeFilter, type TaskFilter } from "./filters.ts";
import type { OperatedQueue } from "./operated-queue.ts";
import { leasesById, type TaskWithLease } from "./tasks-by-ids.ts";
import { MAX_STEP, RUN_BOUNDS, runOverShards, type RunOptions, type RunReport } from "./paged-run.ts";

export interface RedriveOptions extends TaskFilter, RunOptions {
  /**
   * Why the tasks were rejected: a reason, or several of which one must match.
   * @default ["attempts_exhausted", "lease_expired", "taken_back"]
   */
  readonly reason?: TaskFilter["reason"];
  /**
   * Ids of dead letters, at most 1,000. With `lease`, the task must have that lease number, as `get` shows
   * it: a late copy of the request then does not redrive a task that has died again. Not together with a
   * filter, `limit` or `cursor`.
   * @default all that match the filter
   */
  readonly ids?: readonly TaskWithLease[] | undefined;
  /** True counts the tasks that would be redriven, and changes nothing. @default false */
  readonly dryRun?: boolean | undefined;
  /**
   * How many tasks become pending in a second, 0.001 to 1,000,000; the others are delayed.
   * @default all at once
   */
  readonly rate?: number | undefined;
}

export interface RedriveReport extends RunReport {
  readonly redriven: number;
  /** Given ids that were not redriven, and why. */
  readonly refused: readonly {
    readonly id: string;
    readonly code: "not_found" | "not_dead_letter" | "lease_lost" | "newer_schema";
  }[];
}

/** The arguments of the redrive script, except where a page begins. */
type RedriveArguments = Omit<ArgumentsOf<typeof redriveScript>, "limit" | "cursor">;

type Refusal = RedriveReport["refused"][number]["code"];

/** A task to redrive, and the shards that may have it, the likeliest first. */
interface Placed {
  readonly item: { readonly id: string; readonly lease: string };
  readonly shards: readonly Shard[];
}

const OPTIONS = ["ids", "dryRun", "rate", ...FILTER_OPTIONS, ...RUN_BOUNDS, ...REQUEST_OPTIONS];

/** Redrives dead letters: see `Operator.redrive`. */
export async function redriveTasks(queue: OperatedQueue, options: RedriveOptions): Promise<RedriveReport> {
  onlyOptions(options, OPTIONS);
  const { ids, rate } = options;
  const given = writeFilter(options);
  if (rate !== undefined && !(typeof rate === "number" && rate >= 0.001 && rate <= 1_000_000)) {
    throw invalidArgument("rate", "must be a number from 0.001 to 1,000,000");
  }
  const args = {
    dry: trueOrFalse(options.dryRun ?? false, "dryRun") ? "1" : "",
    interval: rate === undefined ? "0" : (1_000 / rate).toFixed(6),
    filter: writeFilter({ ...options, reason: options.reason ?? retryableReasons }),
    wake: queue.store.wakeWindow(),
  };
  if (ids === undefined) return redriveAll(queue, args, options);
  if (given !== "" || options.limit !== undefined || options.cursor !== undefined) {
    throw invalidArgument("ids", "must not be given with a filter, limit or cursor");
  }
  return queue.store.over(() => redriveGiven(queue, ids, args, options), options);
}

async function redriveAll(
  queue: OperatedQueue,
  args: RedriveArguments,
  options: RedriveOptions,
): Promise<RedriveReport> {
  // Of the tasks of a rate, those of the next shard come after those of this one.
  const interval = Number(args.interval);
  let due = 0;
  const redrivePage = async (shard: Shard, cursor: string, limit: string) => {
    const [began = "", first] = cursor.split(" ");
    const now = timeOf(queue);
    due = Math.max(due, Number(first ?? 0), now);
    const page = await redriveSome(queue, shard, { ...args, limit, cursor }, [], options);
    due += page.count * interval;
    const start = `${began || Math.floor(timeOf(queue))} ${Math.ceil(due)} ${options.endedSince ?? 0} -`;
    return { ...page, begin: interval > 0 ? start : "" };
  };
  const { count, ...report } = await runOverShards(queue.store, options, "redrive", redrivePage);
  return { redriven: count, ...report, refused: [] };
}

/** Redrives tasks by their ids, each in the shard that has it. */
async function redriveGiven(
  queue: OperatedQueue,
  ids: NonNullable<RedriveOptions["ids"]>,
  args: RedriveArguments,
  options: RequestOptions,
): Promise<RedriveReport> {
  const leases = leasesById(ids);
  const { store } = queue;
  await store.shards({ ...options, fresh: true });
  const place = async ([id, lease]: readonly [string, string]): Promise<Placed> => {
    return { item: { id, lease }, shards: await store.having(id, options) };
  };
  const refused = new Map<string, Refusal>();
  let placed = await Promise.all(Array.from(leases, place));
  while (placed.length > 0) {
    const next: Placed[] = [];
    for (const [shard, own] of groupedBy(placed, ({ shards }) => shards[0] as Shard)) {
      let rest = own;
      let cursor = "";
      while (rest.length > 0) {
        const items = rest.map(({ item }) => item);
        const given = { ...args, limit: String(MAX_STEP), cursor };
        const reply = await redriveSome(queue, shard, given, items, options);
        for (const [i, code] of reply.answers.entries()) {
          const asked = rest[i];
          if (code === "redriven" || !asked) continue;
          const others = asked.shards.slice(1);
          if (code === "not_found" && others.length > 0) next.push({ item: asked.item, shards: others });
          else refused.set(asked.item.id, code);
        }
        rest = rest.slice(reply.answers.length);
        cursor = reply.cursor;
      }
    }
    placed = next;
  }
  const inOrder = [...leases.keys()].flatMap((id) => {
    const code = refused.get(id);
    return code === undefined ? [] : [{ id, code }];
  });
  return { redriven: leases.size - refused.size, refused: inOrder, cursor: null, unreadable: 0 };
}

/** Redrives a page. Wakes a consumer for tasks that are ready, and arranges a wake for those that are delayed. */
async function redriveSome(
  queue: OperatedQueue,
  shard: Shard,
  args: ArgumentsOf<typeof redriveScript>,
  items: readonly Placed["item"][],
  options: RequestOptions,
) {
  const { store } = queue;
  const note = args.dry === "" && shard.isPart ? shard.note() : undefined;
  const reply = await run(store.queue.transport, shard.call(redriveScript, args, items, note), options);
  const interval = Number(args.interval);
  const isDelayed = interval > 0 && reply.count > 1 && args.dry === "";
  await store.ready({ now: reply.wake, at: isDelayed ? timeOf(queue) + interval : undefined });
  return reply;
}

/** Redis's time, epoch ms, as nearly as it is known. */
const timeOf = ({ store: { queue } }: OperatedQueue) => queue.now?.() ?? redisTime(queue.transport);
