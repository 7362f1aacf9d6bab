import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { openTelemetry } from "../../src/features/tracing/open-telemetry.ts";
import { large, offloading, testStore } from "../features/offload/rig.ts";
import { encrypting, MARKER, shows } from "../support/encrypting.ts";
import { NonRetryableError } from "../../src/index.ts";
import { QUEUE } from "../support/rig.ts";
import type { Traces } from "../features/tracing/traces.ts";
import { type Delivered, type Front, type Given, until, work } from "./front.ts";
import type { FeatureName } from "./table.ts";

/** What a feature promises, however a user reaches the queue. It knows only the interface of a front. */
type Feature = (traces: Traces) => {
  readonly given: Given;
  readonly run: (front: Front) => Promise<void>;
  /** Whether a line on the console is what the feature says there. @default none is */
  readonly logs?: (line: object) => boolean;
};

/** A handler that notes the ids of its tasks, and what a feature needs beside it. */
function noting(given: Partial<Given> = {}) {
  const done: string[] = [];
  const handler = ({ id }: Delivered) => void done.push(id);
  return { done, given: { declaration: {}, concurrency: 5, handler, ...given } };
}

const tasksOf = (...ids: readonly string[]) => ids.map((id) => ({ payload: id, id }));
const eight = tasksOf("t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7");
const empty = { pending: 0, delayed: 0, working: 0, rejected: 0 };

/** All partitions are worked on, and ids are unique in all of them together. */
const partitions: Feature = () => {
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
const encryption: Feature = () => {
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
const offload: Feature = () => {
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

/** Groups take turns, however many tasks one of them has. */
const groups: Feature = () => {
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

/** At most so many tasks are worked on at once. */
const maxWorking: Feature = () => {
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
const rate: Feature = () => {
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

/** The tasks of a declared schedule are enqueued and handled, each once. */
const schedules: Feature = () => {
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

/** A consumer starts with the enqueue, without cron. */
const wake: Feature = () => {
  const { done, given } = noting();
  return {
    given,
    async run(front) {
      await front.add(tasksOf("a", "b", "c"));
      await until(() => done.length >= 3);
      expect(done.toSorted()).toEqual(["a", "b", "c"]);
      await until(async () => (await front.counts()).working === 0);
      for (const id of done) expect(await front.get(id)).toMatchObject({ state: "completed" });
    },
  };
};

/** The work on a task belongs to the trace of its enqueue. */
const tracing: Feature = (traces) => {
  const { done, given } = noting({ tracing: openTelemetry() });
  return {
    given,
    async run(front) {
      for (const task of tasksOf("a", "b", "c")) await front.add([task]);
      await work(front, () => done.length >= 3);
      const named = (name: string) => traces.finished().filter((span) => span.name === `${name} ${QUEUE}`);
      await until(() => named("process").length >= 3);
      const enqueues = named("enqueue");
      const parents = named("process").map(
        ({ parentSpanContext: parent }) =>
          enqueues.find((span) => span.spanContext().spanId === parent?.spanId)?.spanContext().traceId ===
          parent?.traceId,
      );
      expect(parents).toEqual([true, true, true]);
      expect(new Set(named("process").map((span) => span.spanContext().traceId)).size).toBe(3);
    },
  };
};

/** Tasks have the defaults that their queue declares. */
const defaults: Feature = () => ({
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

/** Every key begins with the prefix. */
const prefix: Feature = () => {
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

/** What is wrong is found, in all partitions, and under any prefix. */
const health: Feature = () => {
  const daily = { every: "24h", payload: 1, paused: true } as const;
  const { given } = noting({ declaration: { partitions: 2, schedules: { daily } }, prefix: "mine" });
  return {
    given,
    async run(front) {
      await front.add(tasksOf("a", "b"));
      const findings = await front.findings();
      expect(findings).toContainEqual({
        status: "warning",
        code: "schedule_paused",
        about: QUEUE,
        queue: QUEUE,
        found: expect.stringMatching(/^schedule daily has been paused for \d+m?s$/),
        advice: `sluice schedules ${QUEUE} --resume daily`,
        names: ["daily"],
      });
      expect(findings.filter(({ about }) => about === QUEUE)).toHaveLength(1);
      expect(findings.filter(({ code, status }) => code === "clock_off" && status !== "ok")).toEqual([]);
    },
  };
};

/** Tasks are found by id and payload, in all partitions, and under any prefix. */
const search: Feature = () => {
  const { given } = noting({ declaration: { partitions: 2, maxWorking: 1 }, prefix: "mine" });
  return {
    given,
    async run(front) {
      // A server would complete them at once.
      const delay = 3_600_000;
      await front.add([
        { id: "a", payload: { to: "needle@example.com" }, delay },
        { id: "b", payload: "hay", delay },
        { id: "needle", payload: 1, delay },
      ]);
      const found = await front.find("needle");
      expect(found.map(({ queue, id, found: place }) => [queue, id, place])).toEqual([
        [QUEUE, "needle", "id"],
        [QUEUE, "a", "payload"],
      ]);
    },
  };
};

/** Tasks are redriven, cancelled and deleted by their ids, several at once, in all partitions and under any prefix. */
const bulk: Feature = () => {
  const failed = new Set<string>();
  return {
    given: {
      declaration: { partitions: 4 },
      prefix: "mine",
      dashboard: true,
      concurrency: 5,
      handler({ id }) {
        if (failed.has(id)) return;
        failed.add(id);
        throw new NonRetryableError("no such address");
      },
    },
    // Each dead letter is.
    logs: (line) => "task" in line,
    async run(front) {
      const dead = ["d0", "d1", "d2", "d3", "d4", "d5"];
      const later = ["l0", "l1", "l2", "l3", "l4", "l5"];
      await front.add([
        ...tasksOf(...dead),
        ...tasksOf(...later).map((task) => ({ ...task, delay: 3_600_000 })),
      ]);
      await work(front, () => failed.size === dead.length);
      expect(await front.counts()).toMatchObject({ ...empty, rejected: 6, delayed: 6 });
      await front.bulk("cancel", later.slice(0, 4));
      for (const id of later.slice(0, 4))
        expect(await front.get(id)).toMatchObject({ state: "rejected", reason: "cancelled" });
      expect(await front.counts()).toMatchObject({ ...empty, rejected: 6, delayed: 2 });
      await front.bulk("delete", [...dead.slice(3), ...later.slice(3)]);
      const gone: string[] = [];
      for (const id of [...dead, ...later]) if (!(await front.get(id))) gone.push(id);
      expect(gone).toEqual(["d3", "d4", "d5", "l3"]);
      await front.bulk("redrive", dead);
      expect(await front.counts()).toMatchObject({ rejected: 0, delayed: 2 });
      // A server may work on them already.
      for (const id of dead.slice(0, 3))
        expect((await front.get(id))?.transitions.map(({ to }) => to)).toContain("rejected");
    },
  };
};

/** A listener gets the result of each task. */
const events: Feature = () => {
  const { done, given } = noting({ declaration: { events: true } });
  return {
    given: { ...given, handler: ({ id }) => (done.push(id), { of: id }) },
    async run(front) {
      const published = await front.events();
      await front.add(tasksOf("a"));
      await front.add(tasksOf("b", "c"));
      await work(front, () => done.length >= 3);
      const found: unknown[] = [];
      for await (const { event, tasks = [] } of published) {
        if (event === "completed") found.push(...tasks);
        if (found.length >= 3) break;
      }
      const reported = ["a", "b", "c"].map((id) => ({ id, attempt: 1, result: { of: id } }));
      expect(found).toHaveLength(3);
      expect(found).toEqual(expect.arrayContaining(reported));
    },
  };
};

/** What happens to tasks is logged by the option `logger`, and by nothing else. */
const logger: Feature = () => {
  const lines: unknown[] = [];
  const note = (level: string) => (line: object) => void lines.push({ level, ...line });
  const [debug, info, warn, error] = ["debug", "info", "warn", "error"].map(note);
  const { done, given } = noting({
    handler({ id }) {
      done.push(id);
      if (id === "fails") throw new Error("HTTP 503");
    },
    logger: { debug, info, warn, error } as NonNullable<Given["logger"]>,
  });
  return {
    given,
    async run(front) {
      // A cron that finds nothing to do logs nothing.
      const before = lines.length;
      await front.run();
      expect(lines.slice(before)).toEqual([]);
      await front.add(tasksOf("done", "fails"));
      await work(front, () => done.length >= 2);
      const failed = { level: "warn", task: "fails", attempt: 1, failed: "Error: HTTP 503", next: "retry" };
      await until(
        () => lines.some((line) => (line as { level: string }).level === "info"),
        () => front.run(),
      );
      expect(lines).toContainEqual(expect.objectContaining(failed));
      expect(lines).toContainEqual(expect.objectContaining({ level: "info", drain: QUEUE, requeued: 1 }));
    },
  };
};

export const features: Readonly<Record<FeatureName, Feature>> = {
  partitions,
  encryption,
  offload,
  groups,
  maxWorking,
  rate,
  schedules,
  wake,
  tracing,
  defaults,
  prefix,
  health,
  search,
  bulk,
  events,
  logger,
};
