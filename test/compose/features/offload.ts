import { expect } from "vitest";
import { large, offloading, testStore } from "../../offload/rig.ts";
import type { Feature } from "../feature.ts";
import { type Front, until, work } from "../front.ts";

/** Handlers get large payloads, which Redis does not have. Their objects are removed with their tasks. */
export const offload: Feature = () => {
  const store = testStore(Date.now());
  const payloads: unknown[] = [];
  const inRedis: boolean[] = [];
  let stored: Front["stored"];
  return {
    given: {
      declaration: { offload: offloading(store) },
      concurrency: 1,
      async handler({ payload }) {
        payloads.push(payload);
        inRedis.push((await stored()).text.includes(large("").text));
      },
    },
    async run(front) {
      stored = front.stored;
      const all = ["a", "b", "c"].map((id) => ({ id, payload: large(id) }));
      await front.add(all);
      await work(front, () => payloads.length >= all.length);
      expect(payloads).toEqual(all.map(({ payload }) => payload));
      expect(inRedis).toEqual([false, false, false]);
      await until(async () => (await store.keys()).length === 0);
      for (const { id } of all) expect(await front.get(id)).toMatchObject({ state: "completed" });
    },
  };
};
