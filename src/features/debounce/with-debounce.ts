import type { AddHeaders } from "../../kernel/hooks.ts";
import { tokenOf } from "../../kernel/call-token.ts";
import { onAll } from "../../kernel/on-all.ts";
import type { RequestOptions } from "../../kernel/options/types.ts";
import { onlyOptions, optionsObject, REQUEST_OPTIONS, taskId } from "../../kernel/options/validation.ts";
import type { Producer } from "../../kernel/producer.ts";
import { addKeyed, type KeyedParts } from "./add-keyed.ts";
import { forgetKeyScript } from "./debounce-scripts.ts";
import { keyedBy } from "./key-options.ts";
import type { KeyedEnqueued, KeyedEnqueueOptions } from "./types.ts";

/** What one enqueue adds to a list of payloads. */
export type ItemOf<In> = In extends readonly (infer Item)[] ? Item : unknown extends In ? unknown : never;

/** What {@link withDebounce} adds to a queue. */
export interface KeyedCalls<In> {
  /**
   * Adds one task, as the `enqueue` of the queue does; or joins it with an earlier one.
   * @param payload as there. With `debounce` and `keep: "all"` one item of the list that the task gets
   * @param options as there, and one of `debounce`, `throttle`, `singleton` and `replace`
   * @returns what happened, and the id of the task concerned
   * @throws {SluiceError} as the `enqueue` of the queue
   */
  enqueue(
    payload: ItemOf<In>,
    options: KeyedEnqueueOptions<"all"> & { readonly debounce: { readonly keep: "all" } },
  ): Promise<KeyedEnqueued>;
  enqueue(payload: In, options?: KeyedEnqueueOptions<"last" | "first">): Promise<KeyedEnqueued>;
  /**
   * Forgets a key of `debounce`, `throttle` and `singleton`: the next enqueue with it is as the first. Tasks stay as they
   * are. One request.
   * @returns whether the key was known
   * @throws {SluiceError} `invalid_argument`, or a fault of the transport
   */
  forgetKey(key: string, options?: RequestOptions): Promise<boolean>;
}

/**
 * Lets enqueues of a queue have the options `debounce`, `throttle`, `singleton` and `replace`, in one request each.
 * Payloads of such tasks are in Redis, and have at most 1 MiB, also with `offload`.
 * @param queue a `Queue` or a `Producer`
 * @returns the same queue, with another `enqueue`, and with `forgetKey`
 * @example
 * const search = withDebounce(new Queue("search", { transport: upstash(env) }));
 * await search.enqueue({ page: 7 }, { debounce: { key: "page-7", wait: "5s" } });
 */
export function withDebounce<In, Out, Q extends Producer<In, Out>>(
  queue: Q & Producer<In, Out>,
): Omit<Q, "enqueue"> & KeyedCalls<In> {
  const parts: KeyedParts = {
    name: queue.name,
    store: queue["store"],
    values: queue["values"],
    defaults: queue["defaults"],
    schema: queue["schema"],
  };
  const enqueuePlainly = queue.enqueue.bind(queue);
  return Object.assign(
    queue as Omit<Q, "enqueue">,
    {
      async enqueue(
        payload: In,
        options: KeyedEnqueueOptions = {},
        addHeaders?: AddHeaders,
      ): Promise<KeyedEnqueued> {
        optionsObject(options);
        const { debounce, throttle, singleton, replace, ...rest } = options;
        const by = keyedBy({ debounce, throttle, singleton, replace }, rest);
        if (by) return addKeyed(parts, payload, by, rest, addHeaders);
        const enqueued = await enqueuePlainly(payload, rest);
        return { ...enqueued, outcome: enqueued.created ? "created" : "dropped" };
      },
      async forgetKey(key: string, options: RequestOptions = {}): Promise<boolean> {
        onlyOptions(options, REQUEST_OPTIONS);
        const token = await tokenOf(parts, "forget-key", options);
        const args = { key: taskId(key, "key"), token };
        const replies = await onAll(parts.store, (shard) => shard.call(forgetKeyScript, args), options);
        return [...replies.values()].includes(true);
      },
    } as KeyedCalls<In>,
  );
}
