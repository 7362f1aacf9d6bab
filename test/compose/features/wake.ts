import { expect } from "vitest";
import type { Feature } from "../feature.ts";
import { until } from "../front.ts";

/** A consumer starts with the enqueue, without cron. */
export const wake: Feature = () => {
  const done: string[] = [];
  return {
    given: { declaration: {}, concurrency: 5, handler: ({ id }) => void done.push(id) },
    async run(front) {
      const ids = ["a", "b", "c"];
      await front.add(ids.map((id) => ({ payload: 1, id })));
      await until(() => done.length >= ids.length);
      expect(done.toSorted()).toEqual(ids);
      await until(async () => (await front.counts()).working === 0);
      for (const id of ids) expect(await front.get(id)).toMatchObject({ state: "completed" });
    },
  };
};
