/** The ids and records of new tasks. */
import { SluiceError } from "../../errors.ts";
import { byteLengths } from "../record/byte-length.ts";
import { newTaskId } from "../names/ids.ts";
import { MAX_REQUEST_BYTES } from "../options/limits.ts";
import { all, type MaybePromise } from "../maybe-promise.ts";
import type { AddBatch, AddedTask, Draft, Failed, Item } from "../store.ts";

/** The ids of new tasks in a queue that is not divided. */
export function idsOf(drafts: readonly Draft[]): MaybePromise<readonly string[]> {
  return all(drafts, ({ id, derivedId }) => id ?? derivedId?.() ?? newTaskId());
}

/** Encoded tasks: those that can be sent, with the places of their drafts, and why the others cannot. */
export interface Encoded {
  readonly items: readonly Item[];
  readonly places: readonly number[];
  /** By the places of the drafts: those that failed. */
  readonly added: AddedTask[];
}

/**
 * Encodes tasks of a batch for their ids.
 * @throws {SluiceError} `too_large` if they are too large together; why a task of a single caller cannot be encoded
 */
export async function encoded(
  { encode, drafts, refuseEach }: AddBatch,
  places: readonly number[],
  ids: readonly string[],
): Promise<Encoded> {
  const found = await encode(places, ids);
  const added: AddedTask[] = [];
  for (const [i, one] of found.entries()) if (hasFailed(one)) added[places[i] as number] = one;
  const items = (added.length > 0 ? found.filter((one) => !hasFailed(one)) : found) as readonly Item[];
  if (!refuseEach && drafts.length > 1) refuseTooLarge(items);
  return { items, places: added.length > 0 ? places.filter((place) => !added[place]) : places, added };
}

const hasFailed = (one: Item | Failed): one is Failed => "failed" in one;

function refuseTooLarge(items: readonly Item[]): void {
  const bytes = byteLengths(
    items.flatMap(({ front, payload }) => [front, payload]),
    MAX_REQUEST_BYTES,
  );
  if (bytes <= MAX_REQUEST_BYTES) return;
  throw new SluiceError(
    "too_large",
    `tasks have ${bytes} bytes; at most ${MAX_REQUEST_BYTES} are allowed`,
    "tasks",
  );
}
