import { all, andThen, isPromise, type MaybePromise } from "../../../kernel/maybe-promise.ts";
import { MAX_BATCH } from "../../../kernel/options/limits.ts";
import type { AddBatch, AddedTask, AddReply, Adds, Failed, Item } from "../../../kernel/store.ts";
import type { Shareable, SharedCall } from "./shared-call.ts";

/** Adds the tasks of several calls, each of which may fail alone. */
export function addTogether(next: Adds): Shareable<AddBatch, AddReply> {
  return {
    most: MAX_BATCH,
    bytes: ({ drafts }) => drafts[0]?.bytes?.() ?? 0,
    async send(calls, signal) {
      const [first, ...others] = calls;
      if (!first) return;
      if (others.length === 0) return first.answer(await next.add({ ...first.item, signal }));
      const { items, added, after } = await next.add({
        drafts: calls.flatMap(({ item }) => item.drafts),
        encode: (places, ids) => encodeEach(calls, places, ids),
        refuseEach: true,
        mayShare: false,
        signal,
      });
      // Only the first call waits for what follows, such as a wake where the platform has no `waitUntil`.
      for (const [i, call] of others.entries()) call.answer(answerOf(items[i + 1], added[i + 1]));
      await Promise.all(after);
      first.answer(answerOf(items[0], added[0]));
    },
  };
}

const answerOf = (item: Item | undefined, added: AddedTask | undefined): AddReply => ({
  items: [item],
  added: added ? [added] : [],
  wake: false,
  after: [],
});

function encodeEach(
  calls: readonly SharedCall<AddBatch, AddReply>[],
  places: readonly number[],
  ids: readonly string[],
): MaybePromise<readonly (Item | Failed)[]> {
  return all(places, (place, i) => {
    try {
      const { item } = calls[place] as (typeof calls)[number];
      const found = andThen(item.encode([0], [ids[i] as string]), ([one]) => one as Item | Failed);
      return isPromise(found) ? found.catch(failure) : found;
    } catch (error) {
      return failure(error);
    }
  });
}

const failure = (failed: unknown): Failed => ({ failed });
