import { commandCall, exchange, run } from "../kernel/call.ts";
import { slicesOf } from "../kernel/slices.ts";
import { NEVER_DUE } from "../kernel/linked/flow-names.ts";
import { forgetNote } from "../kernel/note.ts";
import { changeAll } from "../kernel/on-all.ts";
import type { Shard } from "../kernel/shard.ts";
import type { RequestOptions } from "../kernel/options/types.ts";
import { onlyOptions, REQUEST_OPTIONS, trueOrFalse } from "../kernel/options/validation.ts";
import { deleteQueueScript } from "./operate-scripts.ts";
import { unregisterScript } from "../kernel/scripts/unregister-scripts.ts";
import { tokenOf } from "../kernel/call-token.ts";
import type { OperatedQueue } from "./operated-queue.ts";

/**
 * `still_working`: nothing was deleted, because `working` tasks are leased; or because flows that have not ended have
 * `ofFlows` tasks and inner flows here, those that work included, or are here as a whole.
 */
export type QueueDeleted =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly code: "still_working";
      readonly working: number;
      readonly ofFlows?: number | undefined;
    };

/** Deletes the queue: see `Operator.deleteQueue`. */
export async function deleteQueue(
  queue: OperatedQueue,
  options: RequestOptions & { readonly force?: boolean | undefined },
): Promise<QueueDeleted> {
  onlyOptions(options, ["force", ...REQUEST_OPTIONS]);
  const { store } = queue;
  const { transport } = store.queue;
  const token = await tokenOf(queue.store.queue, "delete", options);
  const force = trueOrFalse(options.force ?? false, "force") ? "1" : "";
  return store.over(async () => {
    const all = await store.shards({ ...options, fresh: true });
    const found = all.length > 1 && force === "" ? await countWorking(queue, all, token, options) : NONE;
    if (found.working + found.ofFlows > 0) return refused(found);
    const callOf = (shard: Shard) => shard.call(deleteQueueScript, { token, force });
    const changed = await changeAll(store, callOf, options);
    const gone = changed.filter(({ reply }) => reply.deletedAt !== undefined);
    // A separate request: if the first is refused, the queue must stay registered, or it would not be swept.
    if (gone.length > 0) {
      const since = String(Math.max(...gone.map(({ reply }) => reply.deletedAt ?? 0)));
      const names = gone.map(({ shard }) => ({ queue: shard.name }));
      await run(transport, store.shard(0).call(unregisterScript, { since }, names), options);
    }
    for (const { shard } of gone) forgetNote(transport, shard.keys);
    const working = changed.reduce((sum, { reply }) => sum + (reply.working ?? 0), 0);
    const ofFlows = changed.reduce((sum, { reply }) => sum + (reply.nodes ?? 0), 0);
    return working + ofFlows > 0 ? refused({ working, ofFlows }) : { ok: true };
  }, options);
}

const NONE = { working: 0, ofFlows: 0 };

const refused = ({ working, ofFlows }: typeof NONE): QueueDeleted => {
  return { ok: false, code: "still_working", working, ...(ofFlows > 0 && { ofFlows }) };
};

/** How many tasks are working, and how many nodes are of flows; none if an earlier copy of the call has deleted the queue. */
async function countWorking(
  { store }: OperatedQueue,
  shards: readonly Shard[],
  token: string,
  options: RequestOptions,
): Promise<typeof NONE> {
  const calls = commandCall(["GET", store.shard(0).keys.operatorCalls], (reply) => String(reply ?? ""));
  const counts = shards.flatMap(({ keys }) => [
    commandCall(["ZCARD", keys.working], Number),
    commandCall(["HGET", keys.tasks, "~nodes"], (reply) => (reply === null ? undefined : Number(reply))),
    commandCall(["ZCOUNT", keys.expiry, NEVER_DUE, "+inf"], Number),
  ]);
  const [made, ...found] = await exchange(store.queue.transport, [calls, ...counts], options);
  if (made().includes(` ${token}=ok`)) return NONE;
  const read = slicesOf(
    found.map((count) => count()),
    3,
  );
  return {
    working: read.reduce((sum, [working = 0]) => sum + working, 0),
    // As the script counts them.
    ofFlows: read.reduce((sum, [, nodes, left = 0]) => sum + (nodes === undefined ? 0 : nodes || left), 0),
  };
}
