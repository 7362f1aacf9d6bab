// How tasks are stored: over partitions, in secret, elsewhere, under a prefix, with the defaults of their queue.

import { expect } from "vitest";
import { large, offloading, testStore } from "../../features/offload/rig.ts";
import { encrypting, MARKER, shows } from "../../support/encrypting.ts";
import { QUEUE } from "../../support/rig.ts";
import { type Front, until, work } from "../front.ts";
import { empty, type Feature, noting, tasksOf } from "./feature.ts";

/** All partitions are worked on, and ids are unique in all of them together. */
export const partitions: Feature = () => {
  const { done, given } = noting({ declaration: { partitions: 4 } });
  return {
    given: { ...given, handler: ({ id }) => (done.push(id), id) },
    async run(front) {
      const many = Array.from({ length: 12 }, (_, i) => ({ payload: i, id: `now-${i}` }));
      const delayed = Array.from({ length: 4 }, (_, i) => ({
        payload: i,
        id: `later-${i}`,
        delay: "1h" as const,
      }));
      const all = [...many, ...delayed];
      // First: a consumer that has taken the last tasks of a partition counts as awake for five seconds more.
      expect(await front.add([{ payload: 0, id: "alone" }])).toEqual([{ id: "alone", created: true }]);
      expect(await front.add(all)).toEqual(all.map(({ id }) => ({ id, created: true })));
      expect(await front.add(all)).toEqual(all.map(({ id }) => ({ id, created: false })));
      for (const task of all.slice(-6))
        expect(await front.add([task])).toEqual([{ id: task.id, created: false }]);
      const ready = [...many, { id: "alone" }];
      const { keys } = await front.stored();
      const used = [1, 2, 3].filter((partition) => keys.includes(`sluice:{${QUEUE}/${partition}}:tasks`));
      expect(used).toEqual([1, 2, 3]);
      await work(front, () => done.length >= ready.length);
      expect(done.toSorted()).toEqual(ready.map(({ id }) => id).toSorted());
      expect(await front.counts()).toMatchObject({ ...empty, delayed: 4 });
      for (const { id } of ready)
        expect(await front.get(id)).toMatchObject({ state: "completed", result: id });
      for (const { id } of delayed) expect(await front.get(id)).toMatchObject({ state: "delayed" });
    },
  };
};

/** Handlers and callers see payloads and results; what is stored never does. */
export const encryption: Feature = () => {
  const payloads: unknown[] = [];
  const shown: boolean[] = [];
  let stored: Front["stored"];
  const look = async () => void shown.push(shows((await stored()).text));
  return {
    given: {
      declaration: { encryption: encrypting() },
      concurrency: 1,
      async handler({ payload }) {
        payloads.push(payload);
        await look();
        return payload;
      },
    },
    async run(front) {
      stored = front.stored;
      const payload = { text: MARKER };
      await front.add([{ payload, id: "secret" }]);
      await look();
      await work(front, () => payloads.length > 0);
      await look();
      expect(payloads).toEqual([payload]);
      expect(shown).toEqual([false, false, false]);
      expect(await front.get("secret")).toMatchObject({ state: "completed", result: payload });
    },
  };
};

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

/** Every key begins with the prefix. */
export const prefix: Feature = () => {
  const yearly = { cron: "0 0 1 1 *", payload: 1 };
  const declaration = { maxWorking: 5, partitions: 2, schedules: { yearly } };
  const { done, given } = noting({ declaration, prefix: "mine" });
  return {
    given,
    async run(front) {
      await front.add(tasksOf("a", "b", "c", "d"));
      await work(front, () => done.length >= 4);
      expect(done.toSorted()).toEqual(["a", "b", "c", "d"]);
      const { keys } = await front.stored();
      expect(keys.length).toBeGreaterThan(2);
      expect(keys.filter((key) => !/^(?:mine:|\{mine:)/.test(key))).toEqual([]);
    },
  };
};

/** Tasks have the defaults that their queue declares. */
export const defaults: Feature = () => ({
  given: noting({
    declaration: {
      lease: "3m",
      maxAttempts: 7,
      resultTtl: "2h",
      deadTtl: "3d",
      unique: "2d",
      delay: "4h",
    },
  }).given,
  async run(front) {
    await front.add(tasksOf("alone"));
    await front.add(tasksOf("a", "b"));
    const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];
    const options = {
      lease: 3 * minute,
      maxAttempts: 7,
      resultTtl: 2 * hour,
      deadTtl: 3 * day,
      unique: 2 * day,
    };
    for (const id of ["alone", "a", "b"]) {
      const task = await front.get(id);
      expect(task).toMatchObject({ state: "delayed", options });
      expect((task?.dueAt ?? 0) - (task?.enqueuedAt ?? 0)).toBe(4 * hour);
    }
  },
});
