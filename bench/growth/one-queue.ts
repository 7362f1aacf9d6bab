// One queue that grows from 1,000 to 10,000,000 tasks of one state. A second queue stays at 1,000, in the same
// Redis and in turns with it, so that what disturbs the machine disturbs both: ratios are of these two.

import { median, quick } from "../report.ts";
import { GrowingQueue } from "./growing-queue.ts";
import { type Operation, OPERATIONS, round } from "./round.ts";
import { certain, type ScriptTime, startTimedRedis, type TimedRedis } from "./script-time.ts";
import type { GrowingState } from "./states.ts";

export const SMALL = 1_000;
export const SIZES = quick ? [10_000, 100_000] : [100_000, 1_000_000, 10_000_000];
export const ROUNDS = quick ? 10 : 60;
/** Up to this size all tasks are from the queue's own calls. */
const COPIED_FROM = quick ? 10_000 : 100_000;

/** Of each operation its time with 1,000 tasks, µs, and how many times as long it took in the large queue. */
export interface Compared {
  readonly small: number;
  readonly ratio: number;
  /** Longest call in the large queue, µs. */
  readonly longest: number;
}

export type Comparison = ReadonlyMap<Operation, Compared>;

/** What was measured at one size. */
export interface AtSize {
  readonly size: number;
  readonly bytes: number;
  readonly compared: Comparison;
}

export interface Growth {
  readonly name: string;
  readonly sizes: readonly AtSize[];
  /** At the largest size, while Redis still moved its tables to larger ones. */
  readonly moving: Comparison;
}

type Times = Map<Operation, ScriptTime[]>;

async function rounds(redis: TimedRedis, queues: readonly GrowingQueue[], count: number): Promise<Times[]> {
  const found = queues.map((): Times => new Map(OPERATIONS.map((operation) => [operation, []])));
  for (let i = 0; i < count; i++) {
    for (const [j, queue] of queues.entries()) {
      await round(queue, async (operation, script, moved, run) => {
        let result = 0;
        const time = await redis.time(script, async () => (result = await run()));
        if (result !== moved) throw new Error(`${operation}: ${result} tasks, not ${moved}`);
        found[j]?.get(operation)?.push(time);
      });
    }
  }
  return found;
}

async function compare(redis: TimedRedis, large: GrowingQueue, small: GrowingQueue): Promise<Comparison> {
  const [ofLarge, ofSmall] = await rounds(redis, [large, small], ROUNDS);
  const measured = OPERATIONS.filter((operation) => ofLarge?.get(operation)?.length);
  return new Map(
    measured.map((operation) => {
      const [many, few] = [ofLarge?.get(operation) ?? [], ofSmall?.get(operation) ?? []];
      const ratios = many.map(({ elapsed }, i) => elapsed / (few[i]?.elapsed ?? Number.NaN));
      const compared = {
        small: median(few.map(({ elapsed }) => elapsed)),
        ratio: median(ratios),
        longest: Math.max(...many.map(certain)),
      };
      return [operation, compared];
    }),
  );
}

/** Lets a queue grow from size to size, and measures it at each. */
export async function grow(state: GrowingState): Promise<Growth> {
  const redis = await startTimedRedis();
  const small = new GrowingQueue("small", state, redis.transport);
  await small.grow(SMALL, false);
  // Warms up, and gives Redis the buffers that it keeps.
  await rounds(redis, [small], 20);
  const empty = await redis.usedMemory();
  const large = new GrowingQueue("large", state, redis.transport);
  const sizes: AtSize[] = [];
  let moving: Comparison = new Map();
  for (const size of SIZES) {
    const start = performance.now();
    await large.grow(size, size > COPIED_FROM);
    const grown = performance.now();
    if (size === SIZES.at(-1)) moving = await compare(redis, large, small);
    const { hash, zsets } = large.tables;
    await redis.finishTable(hash, "hash");
    for (const zset of zsets) await redis.finishTable(zset, "zset");
    const bytes = ((await redis.usedMemory()) - empty) / size;
    sizes.push({ size, bytes, compared: await compare(redis, large, small) });
    const seconds = [grown - start, performance.now() - grown].map((ms) => (ms / 1_000).toFixed(0));
    console.error(`${size} ${state.name}: ${seconds[0]} s to grow, ${seconds[1]} s to measure`);
  }
  await redis.stop();
  return { name: state.name, sizes, moving };
}
