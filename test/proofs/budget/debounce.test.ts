import { beforeEach, describe, expect, test } from "vitest";
import { type KeyedCalls, withDebounce } from "../../../src/features/debounce/index.ts";
import type { KeyedEnqueueOptions } from "../../../src/features/debounce/types.ts";
import type { Queue } from "../../../src/index.ts";
import { useBilled } from "../../support/billed.ts";

// What enqueues with keys cost, in commands as Upstash bills them: the figures of lua/README.md.

const billed = useBilled();
const { cost } = billed;
let queue: KeyedCalls<unknown>;
beforeEach(() => {
  queue = withDebounce<unknown, unknown, Queue>(billed.queue);
});

const debounce = { key: "a", wait: "1m" } as const;
const singleton = { key: "a", while: "waiting" } as const;
const throttle = { key: "a", most: 1, per: "1m" } as const;

describe("an enqueue with a key costs, the first time and the second", () => {
  test.each<[string, KeyedEnqueueOptions, KeyedEnqueueOptions, readonly number[]]>([
    ["to replace a debounced payload", { debounce }, { debounce }, [6, 8]],
    [
      "to append one",
      { debounce: { ...debounce, keep: "all" } },
      { debounce: { ...debounce, keep: "all" } },
      [6, 8],
    ],
    ["to drop it", { debounce }, { debounce: { ...debounce, keep: "first" } }, [6, 8]],
    ["to drop a throttled task", { throttle }, { throttle }, [6, 5]],
    ["to delay it", { throttle }, { throttle: { ...throttle, excess: "delay" } }, [6, 6]],
    ["to drop a singleton", { singleton }, { singleton }, [6, 7]],
    ["to replace it", { singleton }, { singleton: { ...singleton, then: "replace" } }, [6, 7]],
    ["to cancel it", { singleton }, { singleton: { ...singleton, then: "cancel" } }, [6, 8]],
    ["to replace a task by its id", { id: "a", replace: true }, { id: "a", replace: true }, [5, 7]],
  ])("%s", async (_, first, second, expected) => {
    const found = [];
    for (const options of [first, second]) {
      found.push(await cost(() => queue.enqueue(1, options as KeyedEnqueueOptions<"last">)));
    }
    expect(found).toEqual(expected);
  });

  test("and forgetKey 5", async () => {
    await queue.enqueue(1, { debounce });
    expect(await cost(() => queue.forgetKey("a"))).toBe(5);
  });

  test("and without one what it costs anyway", async () => {
    expect(await cost(() => queue.enqueue(1))).toBe(4);
  });
});
