import { expect } from "vitest";
import type { Feature } from "../feature.ts";
import { type Delivered, work } from "../front.ts";

/** The tasks of a declared schedule are enqueued and handled, each once. */
export const schedules: Feature = () => {
  const done: Delivered[] = [];
  const payload = { to: "team" };
  return {
    given: {
      declaration: { schedules: { beat: { every: "1s", payload } } },
      concurrency: 5,
      handler: (task) => void done.push(task),
    },
    async run(front) {
      await work(front, () => done.length > 0);
      const ids = done.map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      for (const task of done) {
        const [, at = ""] = /^beat\.(\d+)$/.exec(task.id) ?? [];
        expect(task).toMatchObject({ payload, headers: { schedule: "beat", "scheduled-at": at } });
        expect(await front.get(task.id)).toMatchObject({ state: "completed" });
      }
    },
  };
};
