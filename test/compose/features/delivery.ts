// When tasks are delivered: in turns, within limits, by schedules and wakes.

import { setTimeout as sleep } from "node:timers/promises";
import { Webhook } from "standardwebhooks";
import { expect } from "vitest";
import { push, type PushTask, type PushTools } from "../../../src/features/push/index.ts";
import { type Enqueued, NonRetryableError, RetryAfter } from "../../../src/index.ts";
import { startReceiver } from "../../features/push/receiver.ts";
import { type AddedTask, type Delivered, until, work } from "../front.ts";
import { eight, empty, type Feature, noting, tasksOf } from "./feature.ts";

/** Groups take turns, however many tasks one of them has. */
export const groups: Feature = () => {
  const { done, given } = noting({ concurrency: 1 });
  return {
    given,
    async run(front) {
      const of = (group: string, count: number) =>
        Array.from({ length: count }, (_, i) => ({ payload: i, id: `${group}${i}`, group }));
      await front.add([...of("a", 5), ...of("b", 2)]);
      await work(front, () => done.length >= 7);
      expect(done).toEqual(["a0", "b0", "a1", "b1", "a2", "a3", "a4"]);
      expect(await front.counts()).toMatchObject(empty);
    },
  };
};

/** Of a group in strict order, one task at a time is worked on, in the order in which they were added. */
export const order: Feature = () => {
  const done: string[] = [];
  const running = new Set<string>();
  const broken: string[] = [];
  return {
    given: {
      declaration: { order: "strict", partitions: 2 },
      concurrency: 5,
      async handler({ id }) {
        const group = id.slice(0, 1);
        if (running.has(group)) broken.push(id);
        running.add(group);
        // Others would begin meanwhile.
        await sleep(5);
        running.delete(group);
        done.push(id);
        if (id === "a1{a}") throw new NonRetryableError("no");
      },
    },
    async run(front) {
      // With partitions, the id says in which one the task is.
      const names = ["a0{a}", "b0{b}", "a1{a}", "c0{c}", "b1{b}", "a2{a}", "b2{b}", "a3{a}"];
      await front.add(names.map((id) => ({ payload: id, id, group: id.slice(0, 1) })));
      await work(front, () => done.length >= names.length);
      expect(broken).toEqual([]);
      for (const group of ["a", "b", "c"]) {
        const isOf = (id: string) => id.startsWith(group);
        expect(done.filter(isOf)).toEqual(names.filter(isOf));
      }
      expect(await front.counts()).toMatchObject({ ...empty, rejected: 1 });
    },
    logs: (line) => "deadLetter" in line,
  };
};

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
      await front.add(eight);
      await work(front, () => done.length >= eight.length);
      expect(done.toSorted()).toEqual(eight.map(({ id }) => id));
      expect(most).toBe(2);
      expect(await front.counts()).toMatchObject(empty);
    },
  };
};

/** At most so many tasks start in each time. */
export const rate: Feature = () => {
  const { done, given } = noting({ declaration: { rate: { most: 3, per: "1h" } } });
  return {
    given,
    async run(front) {
      await front.add(eight);
      await work(front, () => done.length >= 3);
      await front.run();
      expect(done.toSorted()).toEqual(["t0", "t1", "t2"]);
      expect(await front.counts()).toMatchObject({ ...empty, pending: 5 });
    },
  };
};

/** A paused group waits, and a handler whose receiver asks to come back later pauses the whole queue. */
export const pause: Feature = () => {
  const done: string[] = [];
  return {
    given: {
      declaration: {},
      concurrency: 1,
      handler({ id }) {
        done.push(id);
        throw new RetryAfter("1h", { queue: true, cause: "HTTP 429" });
      },
    },
    async run(front) {
      await front.pause("1h", "g");
      await front.add([{ payload: 1, id: "waits", group: "g" }]);
      await front.add(tasksOf("refused"));
      await work(front, () => done.length > 0);
      const { paused, pausedUntil } = await front.counts();
      expect(paused).toBe(true);
      await front.add(tasksOf("a", "b"));
      await front.run();
      expect(done).toEqual(["refused"]);
      expect(await front.counts()).toMatchObject({ ...empty, pending: 3, delayed: 1 });
      await front.pause("2h");
      expect((await front.counts()).pausedUntil).toBeGreaterThan(Number(pausedUntil));
    },
    logs: (line) => "next" in line,
  };
};

/** The tasks of a declared schedule are enqueued and handled, each once. */
export const schedules: Feature = () => {
  const done: Delivered[] = [];
  const payload = { to: "team" };
  return {
    given: {
      declaration: { schedules: { beat: { every: "1s", from: Date.now() + 200, payload } } },
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

/** Tasks with a key are joined into one, dropped, or replace one that waits. */
export const debounce: Feature = () => {
  const done: unknown[] = [];
  return {
    given: { declaration: {}, concurrency: 5, handler: ({ payload }) => void done.push(payload) },
    async run(front) {
      const addAll = async (...tasks: readonly AddedTask[]) => {
        const added: Enqueued[] = [];
        for (const task of tasks) added.push(...(await front.add([task])));
        const [first] = added;
        expect(added).toMatchObject(tasks.map((_, i) => ({ id: first?.id, created: i === 0 })));
      };
      const key = "page-7";
      const debounced = (["1h", "1h", "1ms"] as const).map((wait) => ({ key, wait }));
      await addAll(...debounced.map((by, i) => ({ payload: i, debounce: by })));
      const throttle = { key, most: 1, per: "1h" } as const;
      await addAll({ payload: 3, throttle }, { payload: 4, throttle });
      const singleton = { key, while: "waiting", then: "replace" } as const;
      await addAll({ payload: 5, singleton, delay: "1h" }, { payload: 6, singleton });
      await addAll({ payload: 7, id: "own", delay: "1h" }, { payload: 8, id: "own", replace: true });
      await work(front, () => done.length >= 4);
      expect(new Set(done)).toEqual(new Set([2, 3, 6, 8]));
      expect(await front.counts()).toMatchObject(empty);
    },
  };
};

/** Tasks are delivered to a URL: what the receiver answers completes them, or makes them dead letters. */
export const pushed: Feature = () => {
  let deliver: ReturnType<typeof push> | undefined;
  return {
    given: {
      declaration: {},
      concurrency: 5,
      handler: (task) => deliver?.(task as unknown as PushTask, {}, {} as PushTools),
    },
    async run(front) {
      const receiver = await startReceiver();
      const url = ({ payload }: PushTask) => `${receiver.url}/${String(payload)}`;
      deliver = push({ url, secret, allow: ["127.0.0.1"], allowPrivate: ["127.0.0.1"] });
      receiver.byPath = { "/hook/gone": 410 };
      await front.add([
        { payload: "ok", id: "e1.a", group: "a" },
        { payload: "gone", id: "e1.b", group: "b" },
      ]);
      await work(front, () => receiver.requests.length >= 2);
      for (const { headers, body } of receiver.requests) new Webhook(secret).verify(body, headers);
      const ids = receiver.requests.map(({ headers }) => String(headers["webhook-id"]));
      expect(ids.toSorted()).toEqual(["e1.a", "e1.b"]);
      const result = { status: 200, body: "", truncated: false };
      expect(await front.get("e1.a")).toMatchObject({ state: "completed", result });
      expect(await front.counts()).toMatchObject({ ...empty, rejected: 1 });
    },
    logs: (line) => "deadLetter" in line,
  };
};

const secret = `whsec_${Buffer.alloc(24, 1).toString("base64")}`;

/** A consumer starts with the enqueue, without cron: of a task alone, and of several. */
export const wake: Feature = () => {
  const { done, given } = noting();
  return {
    given,
    async run(front) {
      await front.add(tasksOf("alone"));
      await until(() => done.length > 0);
      await until(async () => (await front.counts()).working === 0);
      await front.add(tasksOf("a", "b", "c"));
      await until(() => done.length >= 4);
      expect(done.toSorted()).toEqual(["a", "alone", "b", "c"]);
      await until(async () => (await front.counts()).working === 0);
      for (const id of done) expect(await front.get(id)).toMatchObject({ state: "completed" });
    },
  };
};
