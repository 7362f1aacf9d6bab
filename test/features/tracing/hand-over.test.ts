import { expect, test } from "vitest";
import { Service } from "../../../src/deploy/service.ts";
import { openTelemetry } from "../../../src/features/tracing/open-telemetry.ts";
import { recorded } from "../../support/recorded.ts";
import { useRig } from "../../support/rig.ts";
import { env } from "../../deploy/deployments.ts";
import { outside, useTraces } from "./traces.ts";

const rig = useRig();
const traces = useTraces();

test("a task that is handed over has the spans of one that is dequeued, and continues the trace of its request", async () => {
  const { transport, scripts } = recorded(rig);
  const service = new Service(
    env,
    {
      consumers: { emails: () => {} },
      tracing: openTelemetry(),
      fetch: async (_, { queue }) => Response.json(await queue("emails").enqueue(1)),
      logger: "silent",
    },
    { transport: () => transport, budget: "10s", afterResponse: "bounded" },
  );
  const after: Promise<unknown>[] = [];
  const { traceparent } = outside;
  const request = new Request("https://sluice.test/signup", { headers: { traceparent } });
  await service.fetch(request, (work) => void after.push(work));
  while (after.length > 0) await after.shift();
  expect(scripts().map((names) => names.at(-1))).toEqual(["enqueueAndLease", "settleAndDequeue"]);
  expect(traces.shown().map(({ attributes: _, ...span }) => span)).toEqual([
    { name: "dequeue emails", kind: "CLIENT", links: ["enqueue emails"] },
    { name: "enqueue emails", kind: "PRODUCER", parent: outside.spanId },
    { name: "process emails", kind: "CONSUMER", parent: "enqueue emails", links: ["enqueue emails"] },
    { name: "settle emails", kind: "CLIENT", links: ["enqueue emails"] },
  ]);
});
