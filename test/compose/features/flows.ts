// Tasks that wait for each other.

import { expect } from "vitest";
import { NonRetryableError } from "../../../src/index.ts";
import { large, offloading, testStore } from "../../features/offload/rig.ts";
import { encrypting, MARKER, shows } from "../../support/encrypting.ts";
import { QUEUE } from "../../support/rig.ts";
import { BESIDE, type Front, until, work } from "../front.ts";
import { empty, type Feature } from "./feature.ts";

/** Waits until a flow has ended. */
const ended = (front: Front, id: string) =>
  until(
    async () => (await front.flows.get(id))?.state !== "running",
    () => front.run(),
  );

/** Tasks of two queues, one of them in strict order and one with a schedule, begin when those before them have ended. */
export const flows: Feature = () => {
  const done: unknown[] = [];
  const daily = { every: "24h", payload: "daily", paused: true } as const;
  return {
    given: {
      declaration: { schedules: { daily } },
      beside: { order: "strict" },
      concurrency: 5,
      handler: ({ payload }) => void done.push(payload),
    },
    async run(front) {
      const later = { ref: "later", queue: QUEUE, payload: 1, delay: "1h" } as const;
      const waiting = [later, { ref: "mail", queue: BESIDE, payload: 2, group: "g", after: "later" }];
      const { tasks } = await front.flows.add(waiting, { id: "held" });
      expect(await front.flows.add(waiting, { id: "held" })).toEqual({
        id: "held@emails",
        created: false,
        tasks,
      });
      expect(await front.counts(BESIDE)).toMatchObject({ ...empty, blocked: 1 });
      expect(await front.blocked(BESIDE)).toEqual([tasks["mail"]]);
      await front.flows.cancel("held@emails");
      expect(await front.flows.get("held@emails")).toMatchObject({
        state: "rejected",
        isCancelled: true,
        counts: { rejected: 2 },
      });
      expect(await front.counts(BESIDE)).toMatchObject({ ...empty, blocked: 0 });
      const debounce = { key: "k", wait: "1s" };
      await expect(front.flows.add([{ ...later, debounce } as typeof later])).rejects.toThrow("debounce");

      const { id } = await front.flows.add([
        { ref: "report", queue: QUEUE, payload: "report", after: ["a", { ref: "b", on: "ended" }] },
        { ref: "a", queue: BESIDE, payload: "a", group: "g", after: "fetch" },
        { ref: "b", queue: BESIDE, payload: "b", group: "g", after: "fetch" },
        { ref: "fetch", queue: QUEUE, payload: "fetch" },
      ]);
      await ended(front, id);
      expect(done).toEqual(["fetch", "a", "b", "report"]);
      expect(await front.flows.get(id)).toMatchObject({ state: "completed", counts: { completed: 4 } });
    },
  };
};

/** What waits for the completion of a task falls with it, and waits again after a redrive. */
export const fallen: Feature = () => {
  const done: unknown[] = [];
  return {
    given: {
      declaration: {},
      beside: {},
      concurrency: 5,
      handler({ payload }) {
        done.push(payload);
        if (done.filter((one) => one === payload).length === 1 && payload === "fails")
          throw new NonRetryableError("no such file");
      },
    },
    // Of what fell with it nothing is reported.
    logs: (line) => "task" in line && String(line.task).startsWith("0{"),
    async run(front) {
      const { id, tasks } = await front.flows.add([
        { ref: "fails", queue: QUEUE, payload: "fails" },
        { ref: "next", queue: BESIDE, payload: "next", after: "fails" },
        { ref: "last", queue: QUEUE, payload: "last", after: "next" },
        { ref: "clean", queue: QUEUE, payload: "clean", after: { ref: "last", on: "ended" } },
      ]);
      await ended(front, id);
      expect(done).toEqual(["fails", "clean"]);
      expect(await front.get(tasks["last"] as string)).toMatchObject({
        state: "rejected",
        reason: "dependency_failed",
      });
      await front.flows.redrive(id);
      await until(
        async () => (await front.flows.get(id))?.state === "completed",
        () => front.run(),
      );
      expect(done).toEqual(["fails", "clean", "fails", "next", "last"]);
    },
  };
};

/** The handlers of a batch read what came before them, and add tasks to it. */
export const batches: Feature = () => {
  const before: Record<string, unknown> = {};
  return {
    given: {
      declaration: {},
      beside: {},
      concurrency: 5,
      async handler({ payload, ...task }) {
        if (payload === "page") {
          const extra = { ref: "extra", queue: QUEUE, payload: "extra" };
          await task.addBefore("completed", [extra]);
        }
        before[String(payload)] = await task.before();
        return `${String(payload)} done`;
      },
    },
    async run(front) {
      const { id } = await front.flows.batch(
        [
          { queue: BESIDE, payload: "page" },
          { queue: QUEUE, payload: "other", ref: "other" },
        ],
        { completed: { queue: BESIDE, payload: "all" }, failed: { queue: BESIDE, payload: "some" } },
      );
      await ended(front, id);
      // Over HTTP each has its id and its queue too.
      const completed = (what: string): unknown =>
        expect.objectContaining({ state: "completed", result: `${what} done` });
      expect(before).toEqual({
        page: {},
        other: {},
        extra: {},
        all: { 1: completed("page"), other: completed("other"), "1/extra": completed("extra") },
      });
      await work(front, () => true);
      expect(await front.counts()).toMatchObject(empty);
    },
  };
};

/** The next task begins without cron, over partitions, and what is stored shows no payload. */
export const sealedFlows: Feature = () => {
  const store = testStore(Date.now());
  const seen: unknown[] = [];
  const shown: boolean[] = [];
  let stored: Front["stored"];
  return {
    given: {
      declaration: { encryption: encrypting(), partitions: 2 },
      beside: { encryption: encrypting(), offload: offloading(store), partitions: 2 },
      concurrency: 5,
      async handler({ payload, ...task }) {
        shown.push(shows((await stored()).text));
        seen.push(payload, await task.before());
        return MARKER;
      },
    },
    async run(front) {
      stored = front.stored;
      const secret = { text: MARKER };
      const items = [
        { ref: "secret", queue: QUEUE, payload: secret },
        { ref: "large", queue: BESIDE, payload: large(MARKER), after: "secret" },
      ];
      const { id } = await front.flows.add(items);
      await until(async () => (await front.flows.get(id))?.state === "completed");
      expect(seen).toMatchObject([secret, {}, large(MARKER), { secret: { state: "completed" } }]);
      expect(shown).toEqual([false, false]);
      // Payloads of flows stay in Redis.
      expect(await store.keys()).toEqual([]);
    },
  };
};
