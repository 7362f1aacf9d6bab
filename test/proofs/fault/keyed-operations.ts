/** Calls that enqueue under a key. */
import { withDebounce } from "../../../src/features/debounce/index.ts";
import type { KeyedEnqueueOptions } from "../../../src/features/debounce/types.ts";
import type { Queue } from "../../../src/index.ts";
import type { Operation } from "./operation.ts";
import type { Caller } from "./starting-point.ts";

const debounce = { key: "d", wait: "5s", maxWait: "1m" } as const;
const list = { ...debounce, keep: "all" } as const;
const throttle = { key: "t", most: 1, per: "1m" } as const;
const singleton = { key: "s", while: "unfinished" } as const;

const keyed = (queue: Queue) => withDebounce<unknown, unknown, Queue>(queue);

/** Enqueues tasks one after the other, as resends of each would. */
const each =
  (...all: readonly KeyedEnqueueOptions[]) =>
  async (by: Caller) => {
    // A copy of one of several calls may wake again, because it does not know whose wake was the last one.
    const queue = keyed(all.length > 1 ? by.queue() : by.waking());
    const answers: unknown[] = [];
    for (const [i, options] of all.entries()) {
      answers.push(
        await queue.enqueue(i, { ...options, idempotencyKey: `k${i}` } as KeyedEnqueueOptions<"last">),
      );
    }
    return [answers, by.woken];
  };

export const ofKeys: readonly Operation[] = [
  { script: "enqueueDebounced", call: each({ debounce }) },
  {
    script: "enqueueDebounced",
    what: "that replaces",
    nth: 2,
    call: each({ debounce }, { debounce, group: "capped" }),
  },
  {
    script: "enqueueDebounced",
    what: "that appends",
    nth: 2,
    call: each({ debounce: list }, { debounce: list }),
  },
  {
    script: "enqueueDebounced",
    what: "that drops",
    nth: 2,
    call: each({ debounce }, { debounce: { ...debounce, keep: "first" } }),
  },
  { script: "enqueueThrottled", call: each({ throttle }) },
  { script: "enqueueThrottled", what: "that drops", nth: 2, call: each({ throttle }, { throttle }) },
  {
    script: "enqueueThrottled",
    what: "that delays",
    nth: 2,
    call: each({ throttle }, { throttle: { ...throttle, excess: "delay" } }),
  },
  { script: "enqueueSingle", call: each({ singleton }) },
  { script: "enqueueSingle", what: "that drops", nth: 2, call: each({ singleton }, { singleton }) },
  {
    script: "enqueueSingle",
    what: "that replaces",
    nth: 2,
    call: each({ singleton }, { singleton: { ...singleton, then: "replace" } }),
  },
  {
    script: "enqueueSingle",
    what: "that cancels",
    nth: 2,
    call: each({ singleton, group: "free" }, { singleton: { ...singleton, then: "cancel" } }),
  },
  { script: "enqueueOrReplace", call: each({ id: "new", replace: true }) },
  {
    script: "enqueueOrReplace",
    what: "of a task in line",
    call: each({ id: "p1", replace: true, delay: "1m" }),
  },
  {
    script: "enqueueOrReplace",
    what: "of a task of a group",
    call: each({ id: "f1", replace: true, priority: 2 }),
  },
  { script: "enqueueOrReplace", what: "of a task that works", call: each({ id: "mine0", replace: true }) },
  {
    script: "forgetKey",
    async call(by) {
      const queue = keyed(by.queue());
      const first = await queue.enqueue(1, { debounce, idempotencyKey: "1" });
      return [first, await queue.forgetKey("d", { idempotencyKey: "f" })];
    },
  },
];
