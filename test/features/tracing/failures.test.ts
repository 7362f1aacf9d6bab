import { context } from "@opentelemetry/api";
import { expect, test, vi } from "vitest";
import { drain } from "../../../src/index.ts";
import { openTelemetry } from "../../../src/features/tracing/open-telemetry.ts";
import { useRig } from "../../support/rig.ts";
import { outside, useTraces } from "./traces.ts";

const rig = useRig();
useTraces();

const broken = () => {
  throw new Error("the exporter is broken");
};

test.each([
  ["tracer", openTelemetry({ tracerProvider: { getTracer: broken } })],
  [
    "span",
    openTelemetry({
      tracerProvider: { getTracer: () => ({ startSpan: broken, startActiveSpan: broken }) },
    }),
  ],
  ["propagator", openTelemetry({ propagator: { inject: broken, extract: broken, fields: () => [] } })],
])("a failure of the %s harms no task, and is logged once", async (_, failing) => {
  const logged = vi.spyOn(console, "error").mockImplementation(() => {});
  try {
    const harmed = rig.queue({ tracing: failing });
    await harmed.enqueueMany([{ payload: 1, headers: { traceparent: outside.traceparent } }, { payload: 2 }]);
    await harmed.enqueue(3);
    expect(await drain(harmed, () => {})).toMatchObject({ completed: 3 });
    expect(await harmed.dequeue()).toHaveLength(0);
    expect(logged.mock.calls).toEqual([
      ['{"tracing":"failed; later failures are not logged","error":"the exporter is broken"}'],
    ]);
  } finally {
    logged.mockRestore();
  }
});

test("a failure of the context manager harms no task either", async () => {
  const logged = vi.spyOn(console, "error").mockImplementation(() => {});
  const failing = vi.spyOn(context, "with").mockImplementation(broken);
  const harmed = rig.queue({ tracing: openTelemetry() });
  try {
    await harmed.enqueue(1);
    await expect(harmed.enqueue(Symbol("no"))).rejects.toMatchObject({ code: "invalid_argument" });
    let calls = 0;
    expect(await drain(harmed, () => void calls++)).toMatchObject({ completed: 1 });
    expect(calls).toBe(1);
  } finally {
    failing.mockRestore();
    logged.mockRestore();
  }
});

test("a settlement that is null is no failure of OpenTelemetry", async () => {
  const logged = vi.spyOn(console, "error").mockImplementation(() => {});
  try {
    const queue = rig.queue({ tracing: openTelemetry() });
    await expect(queue.settle([null as never])).rejects.toMatchObject({ path: "settlements[0]" });
    expect(logged.mock.calls).toEqual([]);
  } finally {
    logged.mockRestore();
  }
});

test("an option tracing that openTelemetry() did not make is refused, as are wrong options of its own", () => {
  expect(() => rig.queue({ tracing: true as never })).toThrow(
    "tracing must be made by openTelemetry() of sluice-queue/opentelemetry",
  );
  expect(() => openTelemetry({ tracer: 1 } as never)).toThrow("tracer is an unknown option");
  expect(() => openTelemetry({ tracerProvider: {} as never })).toThrow(
    "tracerProvider must be a TracerProvider",
  );
  expect(() => openTelemetry({ propagator: {} as never })).toThrow("propagator must be a TextMapPropagator");
  expect(() => openTelemetry({ exceptions: 1 as never })).toThrow("exceptions must be true or false");
});
