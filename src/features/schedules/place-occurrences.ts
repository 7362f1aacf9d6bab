/** Occurrences in a queue with partitions whose tasks have a group: they go to the partition of its slot. */
import { SluiceError, type SluiceErrorCode } from "../../errors.ts";
import { byteLength } from "../../kernel/record/byte-length.ts";
import { newToken } from "../../kernel/names/ids.ts";
import { MAX_REQUEST_BYTES } from "../../kernel/options/limits.ts";
import type { SendOptions } from "../../kernel/transport.ts";
import type { QueueRef } from "../../kernel/queue-ref.ts";
import { refusal } from "../../kernel/enqueue/refusal.ts";
import type { Shard } from "../../kernel/shard.ts";
import type { AddedTask, Adds, Item } from "../../kernel/store.ts";
import { groupOfTask, occurrenceId, writeOccurrence } from "./schedule-record.ts";

/**
 * For how long the id of such a task stays known, ms. If a sweep stops before it has moved the schedule on, the
 * next one enqueues the occurrence again, and finds its id. Some platforms sweep once a day.
 */
const KNOWN_FOR = 2 * 24 * 3_600_000;

/** A schedule that is due. Instants are epoch ms. */
interface GroupedSchedule {
  readonly name: string;
  /** The occurrences to enqueue. */
  readonly times: readonly number[];
  /** The occurrence after them. */
  readonly following: number;
  /** The recurring task. */
  readonly task: string;
}

/** What became of a schedule's occurrences. Instants are epoch ms. */
export type PlacedOccurrences =
  | {
      /** How many tasks were added. */
      readonly added: number;
      /** The last occurrence whose task is in the queue; undefined if none is. */
      readonly last: number | undefined;
      /** The occurrence after it. */
      readonly next: number;
      /** Whether the partition had no room for all of them. */
      readonly isFull: boolean;
    }
  /** The code of the error with which it failed. */
  | { readonly failed: SluiceErrorCode };

/**
 * Makes what adds tasks to the partitions of a queue.
 * @param onUse called with each shard to which tasks are sent
 */
export type AddsTo = (queue: QueueRef, onUse: (shard: Shard) => void) => Pick<Adds, "add">;

interface PlaceOptions extends SendOptions {
  readonly addsTo: AddsTo;
  /** When to stop, on the clock of `performance.now()`. */
  readonly until: number;
}

/**
 * Enqueues occurrences of one queue, in one request, and a few more while the partitions change. The schedules
 * stay due: the caller moves them on. An occurrence that another sweep has enqueued is known by its id.
 * @returns what became of each schedule, and the names of the partitions that have got tasks
 * @throws {SluiceError} if Redis cannot be reached
 */
export async function placeOccurrences(
  queue: QueueRef,
  schedules: readonly GroupedSchedule[],
  { addsTo, signal, until }: PlaceOptions,
): Promise<{ placed: readonly PlacedOccurrences[]; shards: ReadonlySet<string> }> {
  const used = new Set<string>();
  // The sweep goes on to these partitions, and wakes a consumer.
  const adds = addsTo(queue, ({ name }) => used.add(name));
  // With a token the ids count as the caller's own, which former partitions are asked for. Each sweep has
  // another one, so that only one of them counts a task as added.
  const token = newToken();

  const place = async (some: readonly GroupedSchedule[]): Promise<PlacedOccurrences[]> => {
    try {
      const counts: number[] = [];
      const items: Item[] = [];
      let bytes = 0;
      for (const schedule of some) {
        const before = items.length;
        for (const item of itemsOf(schedule, token)) {
          bytes += byteLength(item.front);
          if (items.length > 0 && bytes > MAX_REQUEST_BYTES) break;
          items.push(item);
        }
        counts.push(items.length - before);
      }
      const { added } = await adds.add({
        drafts: items.map(({ id }) => ({ id, path: "" })),
        encode: (places) => places.map((at) => items[at] as Item),
        refuseEach: true,
        mayShare: false,
        signal,
      });
      const rest = [...added];
      return some.map((schedule, i) => placedOf(schedule, rest.splice(0, counts[i])));
    } catch (error) {
      if (!(error instanceof SluiceError) || error.code === "aborted") throw error;
      // Only on several nodes or databases may others be reached.
      if (error.code === "redis_unreachable" && !queue.transport.cluster) throw error;
      if (some.length === 1) return [{ failed: error.code }];
      const alone: PlacedOccurrences[] = [];
      for (const schedule of some) {
        const inTime = performance.now() < until;
        alone.push(...(inTime ? await place([schedule]) : [{ failed: error.code }]));
      }
      return alone;
    }
  };
  return { placed: await place(schedules), shards: used };
}

/** @throws {SluiceError} `invalid_argument` if the name has another group in braces; `unexpected_reply` */
function itemsOf({ name, times, task }: GroupedSchedule, token: string): Item[] {
  const group = groupOfTask(task);
  return times.map((time) => ({
    id: occurrenceId(name, time, group),
    when: "",
    unique: "",
    front: writeOccurrence(task, time, token, KNOWN_FOR),
    payload: "",
  }));
}

/** @param added what the partition answered, for the first of the schedule's occurrences or all of them */
function placedOf({ times, following }: GroupedSchedule, added: readonly AddedTask[]): PlacedOccurrences {
  const refusedAt = added.findIndex((one) => "refused" in one);
  const known = added.slice(0, refusedAt < 0 ? undefined : refusedAt).filter((one) => "created" in one);
  const refused = added.find((one) => "refused" in one)?.refused;
  if (refused && refused !== "full") return { failed: refusal(refused, "").code };
  return {
    added: known.filter(({ created }) => created).length,
    last: times[known.length - 1],
    next: times[known.length] ?? following,
    isFull: refused === "full",
  };
}
