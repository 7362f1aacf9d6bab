import type { SendOptions } from "./transport.ts";
import { type Call, exchange, runAll } from "./call.ts";
import type { Shard } from "./shard.ts";
import type { Adds } from "./store.ts";

/**
 * Sends a call to all shards, in one request. The request also reads whether these are still all: if not, another
 * one sends it to the others.
 * @returns the reply of each shard, by its place
 */
export function onAll<T>(
  store: Adds,
  callOf: (shard: Shard) => Call<T>,
  options: SendOptions,
): Promise<Map<number, T>> {
  return store.over(async () => {
    const replies = new Map<number, T>();
    let missing = await store.shards(options);
    while (missing.length > 0) {
      const found = await exchangeAndRead(store, missing.map(callOf), options);
      for (const [i, { place }] of missing.entries()) replies.set(place, (found[i] as () => T)());
      missing = (await store.shards(options)).filter(({ place }) => !replies.has(place));
    }
    return replies;
  }, options);
}

/** Sends calls, and in the same request reads which shards there are. Without that reply, what is known still counts. */
export async function exchangeAndRead<T>(
  { queue, shardsCall }: Adds,
  calls: readonly Call<T>[],
  options: SendOptions,
): Promise<readonly (() => T)[]> {
  const read = shardsCall?.();
  const replies = await exchange(queue.transport, read ? [...calls, read] : calls, options);
  if (read) replies.at(-1)?.();
  return replies.slice(0, calls.length) as (() => T)[];
}

/**
 * Changes all shards, including those that another caller adds meanwhile: they may have got the settings from before
 * the change. If the queue is divided, it reads the shards before and after.
 * @returns the replies in the order of the changes
 */
export async function changeAll<T>(
  store: Adds,
  callOf: (shard: Shard) => Call<T>,
  options: SendOptions,
): Promise<readonly { readonly shard: Shard; readonly reply: T }[]> {
  const changed: { shard: Shard; reply: T }[] = [];
  const isMissing = ({ place }: Shard) => !changed.some(({ shard }) => shard.place === place);
  let missing = await store.shards({ ...options, fresh: true });
  while (missing.length > 0) {
    const replies = await runAll(store.queue.transport, missing.map(callOf), options);
    changed.push(...missing.map((shard, i) => ({ shard, reply: replies[i] as T })));
    missing = (await store.shards({ ...options, fresh: true })).filter(isMissing);
  }
  return changed;
}
