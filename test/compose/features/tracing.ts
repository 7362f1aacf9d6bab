import { expect } from "vitest";
import { openTelemetry } from "../../../src/tracing/open-telemetry.ts";
import { QUEUE } from "../../support/rig.ts";
import type { Feature } from "../feature.ts";
import { until, work } from "../front.ts";

/** The work on a task belongs to the trace of its enqueue. */
export const tracing: Feature = (traces) => {
  const done: string[] = [];
  return {
    given: {
      declaration: {},
      concurrency: 5,
      tracing: openTelemetry(),
      handler: ({ id }) => void done.push(id),
    },
    async run(front) {
      const ids = ["a", "b", "c"];
      for (const id of ids) await front.add([{ payload: 1, id }]);
      await work(front, () => done.length >= ids.length);
      const named = (name: string) => traces.finished().filter((span) => span.name === `${name} ${QUEUE}`);
      await until(() => named("process").length >= ids.length);
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
