import { expect } from "vitest";
import { QUEUE } from "../../support/rig.ts";
import type { Feature } from "../feature.ts";
import { work } from "../front.ts";

/** All partitions are worked on, and ids are unique in all of them together. */
export const partitions: Feature = () => {
  const done: string[] = [];
  return {
    given: {
      declaration: { partitions: 4 },
      concurrency: 5,
      handler: ({ id }) => {
        done.push(id);
        return id;
      },
    },
    async run(front) {
      const many = Array.from({ length: 40 }, (_, i) => ({ payload: i, id: `now-${i}` }));
      const delayed = Array.from({ length: 8 }, (_, i) => ({
        payload: i,
        id: `later-${i}`,
        delay: "1h" as const,
      }));
      const all = [...many, ...delayed];
      expect(await front.add(all)).toEqual(all.map(({ id }) => ({ id, created: true })));
      expect(await front.add(all)).toEqual(all.map(({ id }) => ({ id, created: false })));
      for (const task of all) expect(await front.add([task])).toEqual([{ id: task.id, created: false }]);
      expect(await front.add([{ payload: 0, id: "alone" }])).toEqual([{ id: "alone", created: true }]);
      const ready = [...many, { id: "alone" }];
      const { keys } = await front.stored();
      const used = [1, 2, 3].filter((partition) => keys.includes(`sluice:{${QUEUE}/${partition}}:tasks`));
      expect(used).toEqual([1, 2, 3]);
      await work(front, () => done.length >= ready.length);
      expect(done.toSorted()).toEqual(ready.map(({ id }) => id).toSorted());
      expect(await front.counts()).toMatchObject({ pending: 0, delayed: 8, working: 0, rejected: 0 });
      for (const { id } of ready)
        expect(await front.get(id)).toMatchObject({ state: "completed", result: id });
      for (const { id } of delayed) expect(await front.get(id)).toMatchObject({ state: "delayed" });
    },
  };
};
