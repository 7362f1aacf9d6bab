// What operators see and do.

import { expect } from "vitest";
import { openTelemetry } from "../../../src/features/tracing/open-telemetry.ts";
import { NonRetryableError } from "../../../src/index.ts";
import { QUEUE } from "../../support/rig.ts";
import { type Given, until, work } from "../front.ts";
import { empty, type Feature, noting, tasksOf } from "./feature.ts";

/** The work on a task belongs to the trace of its enqueue. */
export const tracing: Feature = (traces) => {
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

/** What is wrong is found, in all partitions, and under any prefix. */
export const health: Feature = () => {
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
export const search: Feature = () => {
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
export const bulk: Feature = () => {
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
export const events: Feature = () => {
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
export const logger: Feature = () => {
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
