import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { Feature } from "../feature.ts";
import { work } from "../front.ts";

const tasks = Array.from({ length: 8 }, (_, i) => ({ payload: i, id: `t${i}` }));

/** At most so many tasks are worked on at once. */
export const maxWorking: Feature = () => {
  const done: string[] = [];
  let running = 0;
  let most = 0;
  return {
    given: {
      declaration: { maxWorking: 2 },
      concurrency: 5,
      async handler({ id }) {
        running += 1;
        most = Math.max(most, running);
        // Others would begin meanwhile.
        await sleep(5);
        running -= 1;
        done.push(id);
      },
    },
    async run(front) {
      await front.add(tasks);
      await work(front, () => done.length >= tasks.length);
      expect(done.toSorted()).toEqual(tasks.map(({ id }) => id));
      expect(most).toBe(2);
      expect(await front.counts()).toMatchObject({ pending: 0, delayed: 0, working: 0, rejected: 0 });
    },
  };
};

/** At most so many tasks start in each time. */
export const rate: Feature = () => {
  const done: string[] = [];
  return {
    given: {
      declaration: { rate: { most: 3, per: "1h" } },
      concurrency: 5,
      handler: ({ id }) => void done.push(id),
    },
    async run(front) {
      await front.add(tasks);
      await work(front, () => done.length >= 3);
      await front.run();
      expect(done.toSorted()).toEqual(["t0", "t1", "t2"]);
      expect(await front.counts()).toMatchObject({ pending: 5, delayed: 0, working: 0, rejected: 0 });
    },
  };
};
