import { invalidArgument } from "../errors.ts";
import type { Shard } from "../kernel/shard.ts";
import { MAX_BATCH } from "../kernel/options/limits.ts";
import { escaped, wholeNumber } from "../kernel/options/validation.ts";
import type { ListOptions } from "../kernel/options/types.ts";

/** What a page has of a worker of one shard. */
interface ShardWorker {
  readonly name: string;
  readonly incarnation?: string | undefined;
  readonly seenAt: number | null;
  readonly silentAt: number;
  readonly working: number;
  readonly tasks: readonly string[];
}

/** Reads a page of the workers of one shard. */
type ReadPage<W> = (
  shard: Shard,
  bounds: { readonly cursor: string; readonly size: string },
) => Promise<{ readonly workers: readonly W[]; readonly now: number; readonly cursor: string }>;

/**
 * Reads a page of the workers of all shards, in the order of their names. A worker that works for several shards comes
 * once. The cursor is the last worker of the page.
 * @param most at most this many ids of tasks for each worker
 * @throws {SluiceError} `invalid_argument`
 */
export async function readWorkersOfAll<W extends ShardWorker>(
  shards: readonly Shard[],
  { cursor: after, size: given }: ListOptions,
  most: number,
  readPage: ReadPage<W>,
) {
  const size = wholeNumber(given ?? 100, "size", 1, MAX_BATCH);
  if (after !== undefined && (typeof after !== "string" || !/^[!-~]{1,400} [!-~]{0,400}$/.test(after))) {
    throw invalidArgument("cursor", "must be the cursor of an earlier page");
  }
  const workers = new Map<string, W>();
  let now = 0;
  const readAll = async (shard: Shard) => {
    let cursor = "0";
    do {
      const page = await readPage(shard, { cursor, size: String(MAX_BATCH) });
      for (const worker of page.workers) {
        const name = nameOf(worker);
        const known = workers.get(name);
        workers.set(name, known ? merged(known, worker, most) : worker);
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

const nameOf = ({ name, incarnation = "" }: ShardWorker) => `${escaped(name)} ${escaped(incarnation)}`;

/** One worker, from what two shards have of it. The later one of what it reported counts. */
function merged<W extends ShardWorker>(one: W, other: W, most: number): W {
  const [late, early] = (one.seenAt ?? 0) >= (other.seenAt ?? 0) ? [one, other] : [other, one];
  return {
    ...late,
    silentAt: Math.max(late.silentAt, early.silentAt),
    working: late.working + early.working,
    tasks: [...late.tasks, ...early.tasks].slice(0, most),
  };
}
