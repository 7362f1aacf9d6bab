import { addPlainlyCall, arePlain } from "./enqueue/add-plainly.ts";
import { run } from "./call.ts";
import { encoded, idsOf } from "./enqueue/encoded.ts";
import { OnDemand } from "./on-demand.ts";
import type { QueueRef } from "./queue-ref.ts";
import { Shard } from "./shard.ts";
import type { AddedTask, AddPlainly, Adds } from "./store.ts";

const CREATED: AddedTask = { created: true };

/** Loaded when it is needed, because its script is large. */
const full = new OnDemand(() => import("./enqueue/add.ts"));

/** The store of a queue that is not divided, for producers and operators: one shard, one request for each call. */
export function plainAdds(queue: QueueRef): Adds {
  const shard = new Shard(queue);
  const { transport } = queue;
  return {
    queue,
    pool: shard.keys.tasks,
    wakeWindow: () => "",
    ready: async () => {},
    expired: () => {},
    async add(batch) {
      const { drafts, wakeWindow = "", signal, onSend } = batch;
      const addPlainly: AddPlainly = batch.addPlainly ?? addPlainlyCall;
      const all = drafts.map((_, place) => place);
      const tasks = await encoded(batch, all, batch.ids ?? (await idsOf(drafts)));
      const { items, added } = tasks;
      if (items.length === 0) return { items, added, wake: false, after: [] };
      const options = { signal, onSend };
      const note = shard.note();
      const mayBePlain = note.mayTakePlain && !full.isLoading;
      const isPlain =
        mayBePlain && items.length === drafts.length && arePlain(drafts, items, batch.plainWithIds);
      if (isPlain) {
        const reply = await run(transport, addPlainly(shard, note, items, wakeWindow), options);
        if (reply) return { items, added: items.map(() => CREATED), ...reply, after: [] };
        batch.onNothing?.();
      }
      return full.use(({ addInFull }) => addInFull(shard, batch, tasks, isPlain));
    },
    find: (_, call, __, options) => run(transport, call(shard), options),
    shard: () => shard,
    shards: async () => [shard],
    having: async () => [shard],
    ownerOf: async () => shard,
    over: (calls) => calls(),
  };
}
