import { expect } from "vitest";
import type { PurgeOptions } from "../../src/index.ts";
import type { named } from "./new-tasks.ts";
import { allPages } from "./paging.ts";
import type { Rig } from "./rig.ts";

/** How long an ended id stays known, ms. */
export const WINDOW = 300_000;

export const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);

/** The functions that tests of purge share. */
export function purging(rig: Rig) {
  async function enqueue(tasks: ReturnType<typeof named>) {
    for (let first = 0; first < tasks.length; first += 1_000) {
      await rig.queue().enqueueMany(tasks.slice(first, first + 1_000));
    }
  }

  /** The number of tasks that each call purged, one request at a time. */
  async function calls(options: PurgeOptions): Promise<number[]> {
    const done = await allPages((cursor) => rig.operator().purge({ ...options, cursor, budget: 0 }));
    return done.map(({ purged }) => purged);
  }

  /** Expects that the queue holds no task after the tombstones have expired. */
  async function nothingLeft() {
    rig.now += WINDOW;
    while (((await rig.sweepOnce()) as number[])[4] !== 0);
    await rig.queue().dequeue({ max: 1_000 });
    const { tasks, ...places } = await rig.space();
    expect(Object.values(places).map((place) => (Array.isArray(place) ? place.length : place.size))).toEqual(
      Object.keys(places).map(() => 0),
    );
    expect([...tasks.keys()].filter((field) => !field.startsWith("~"))).toEqual([]);
  }

  return { enqueue, calls, nothingLeft };
}
