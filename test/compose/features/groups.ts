import { expect } from "vitest";
import type { Feature } from "../feature.ts";
import { work } from "../front.ts";

/** Groups take turns, however many tasks one of them has. */
export const groups: Feature = () => {
  const done: string[] = [];
  return {
    given: { declaration: {}, concurrency: 1, handler: ({ id }) => void done.push(id) },
    async run(front) {
      const of = (group: string, count: number) =>
        Array.from({ length: count }, (_, i) => ({ payload: i, id: `${group}${i}`, group }));
      await front.add([...of("a", 5), ...of("b", 2)]);
      await work(front, () => done.length >= 7);
      expect(done).toEqual(["a0", "b0", "a1", "b1", "a2", "a3", "a4"]);
      expect(await front.counts()).toMatchObject({ pending: 0, delayed: 0, working: 0, rejected: 0 });
    },
  };
};
