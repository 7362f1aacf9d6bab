import { expect } from "vitest";
import type { Feature } from "../feature.ts";
import { work } from "../front.ts";

/** Every key begins with the prefix. */
export const prefix: Feature = () => {
  const done: string[] = [];
  return {
    given: {
      declaration: { maxWorking: 5, partitions: 2, schedules: { yearly: { cron: "0 0 1 1 *", payload: 1 } } },
      concurrency: 5,
      prefix: "mine",
      handler: ({ id }) => void done.push(id),
    },
    async run(front) {
      const ids = ["a", "b", "c", "d"];
      await front.add(ids.map((id) => ({ payload: 1, id })));
      await work(front, () => done.length >= ids.length);
      expect(done.toSorted()).toEqual(ids);
      const { keys } = await front.stored();
      expect(keys.length).toBeGreaterThan(2);
      expect(keys.filter((key) => !/^(?:mine:|\{mine:)/.test(key))).toEqual([]);
    },
  };
};
