import { OnDemand } from "../../kernel/on-demand.ts";
import type { Enqueued, EnqueueOptions, RequestOptions } from "../../kernel/options/types.ts";
import { onlyOptions, optionsObject, REQUEST_OPTIONS, taskId } from "../../kernel/options/validation.ts";
import type { Producer } from "../../kernel/producer.ts";
import type { KeyedParts } from "./add-keyed.ts";
import { keyedBy } from "./key-options.ts";
import type { KeyedEnqueued, KeyedEnqueueOptions, PayloadFor } from "./types.ts";

/** Loaded with the first enqueue that needs it, because the scripts are large. */
const keyed = new OnDemand(() => import("./add-keyed.ts"));

/** What {@link withDebounce} adds to a queue. */
export interface KeyedCalls<In> {
  /**
   * Adds one task, as the `enqueue` of the queue does; or joins it with an earlier one.
   * @param payload as there. With `debounce` and `keep: "all"` one item of the list that the task gets
   * @param options as there, and one of `debounce`, `throttle`, `singleton` and `replace`
   * @returns what happened, and the id of the task concerned
   * @throws {SluiceError} as the `enqueue` of the queue
   */
  enqueue<Options extends KeyedEnqueueOptions>(
    payload: PayloadFor<In, Options>,
    options?: Options,
  ): Promise<KeyedEnqueued>;
  /**
   * Forgets a key of `debounce`, `throttle` and `singleton`: the next enqueue with it is as the first. Tasks stay as they
   * are. One request.
   * @returns whether the key was known
   * @throws {SluiceError} `invalid_argument`, or a fault of the transport
   */
  forgetKey(key: string, options?: RequestOptions): Promise<boolean>;
}

/** A queue over HTTP, as `createClient` makes it: the server does what the options ask for. */
export interface QueueOfClient<In> {
  enqueue(payload: In, options?: EnqueueOptions & RequestOptions): Promise<Enqueued>;
}

/**
 * Lets enqueues of a queue have the options `debounce`, `throttle`, `singleton` and `replace`, in one request each.
 * Payloads of such tasks are in Redis, and have at most 1 MiB, also with `offload`.
 * @param queue a `Queue`, a `Producer`, a queue that `defineQueue` made with a transport, or the queue of a client
 * @returns the same queue with another `enqueue`, and with `forgetKey`
 * @example
 * const search = withDebounce(new Queue("search", { transport: upstash(env) }));
 * await search.enqueue({ page: 7 }, { debounce: { key: "page-7", wait: "5s" } });
 */
export function withDebounce<In, Out, Q extends Producer<In, Out>>(
  queue: Q & Producer<In, Out>,
): Omit<Q, "enqueue"> & KeyedCalls<In>;
export function withDebounce<In, Q extends QueueOfClient<In>>(
  queue: Q & QueueOfClient<In>,
): Omit<Q, "enqueue"> & KeyedCalls<In>;
export function withDebounce<In>(queue: Producer<In, unknown> | QueueOfClient<In>): object {
  // A queue of Next.js is made when it is used, for each request: so its parts are read with each call.
  const partsNow = (): KeyedParts | undefined => {
    const given = queue as unknown as Partial<KeyedParts> & { readonly producer?: Partial<KeyedParts> };
    const { name, store, values, defaults, schema, checkTask } = given.producer ?? given;
    return name !== undefined && store && values && defaults
      ? { name, store, values, defaults, schema, checkTask }
      : undefined;
  };
  const own: KeyedCalls<In> = {
    async enqueue(payload, options) {
      const given: KeyedEnqueueOptions = options ?? {};
      optionsObject(given);
      const { debounce, throttle, singleton, replace, ...rest } = given;
      const by = keyedBy({ debounce, throttle, singleton, replace }, rest);
      const parts = partsNow();
      if (by) parts?.checkTask?.(given, "");
      if (by && parts) return keyed.use(({ addKeyed }) => addKeyed(parts, payload, by, rest));
      const enqueued = await queue.enqueue(payload, by ? given : rest);
      return { outcome: enqueued.created ? "created" : "dropped", ...enqueued };
    },
    async forgetKey(key, options = {}) {
      onlyOptions(options, REQUEST_OPTIONS);
      taskId(key, "key");
      const parts = partsNow();
      return keyed.use(({ forgetKey, forgetKeyByRequest }) =>
        parts ? forgetKey(parts.store, key, options) : forgetKeyByRequest(queue, key, options),
      );
    },
  };
  return new Proxy(queue, {
    get(target, name) {
      const value: unknown = Object.hasOwn(own, name)
        ? own[name as keyof typeof own]
        : Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
