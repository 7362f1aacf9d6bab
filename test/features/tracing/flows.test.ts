import { expect, test } from "vitest";
import { createFlowClient } from "../../../src/client/flows/index.ts";
import { createApp } from "../../../src/http/app.ts";
import { batch, flow, flows, withFlows } from "../../../src/http/flows/index.ts";
import { drain, Producer, Queue } from "../../../src/index.ts";
import { openTelemetry } from "../../../src/features/tracing/open-telemetry.ts";
import { secrets, tokens } from "../../http/served.ts";
import { useRig } from "../../support/rig.ts";
import { COUNT, ID, inSpan, outside, useTraces } from "./traces.ts";

const rig = useRig({ checkInvariants: false });
const traces = useTraces();
const tracing = openTelemetry();
const queue = (name: string) => new Queue<number>(name, { transport: rig.transport, tracing });

/** Drains queues one after the other. */
async function drained(...names: readonly string[]) {
  for (const name of names) await drain(withFlows(queue(name)), () => {}, { concurrency: 1 });
}

/** The parents of spans, without those of dequeues and settles. */
const parents = () =>
  traces
    .shown()
    .filter(({ name }) => !/^(dequeue|settle)/.test(name))
    .map(({ name, parent }) => `${parent ?? "none"} > ${name}`);

test("a flow is added by one span, which the trace of each task continues, also of one that was blocked", async () => {
  const [first, second] = [queue("first"), new Producer("second", { transport: rig.transport, tracing })];
  await inSpan("request", () =>
    flow(
      { ref: "a", queue: first, payload: 1, headers: { kind: "a" } },
      { ref: "b", queue: second, payload: 2, after: "a" },
    ),
  );
  expect(traces.shown()[0]).toEqual({
    name: "enqueue first",
    kind: "PRODUCER",
    parent: "request",
    attributes: { [COUNT]: 2 },
  });
  await drained("first", "second");
  expect(parents()).toEqual([
    "request > enqueue first",
    "enqueue first > process first",
    "enqueue first > process second",
    "none > request",
  ]);
});

test("tasks that a handler adds, also as a batch, belong to the trace of its task", async () => {
  const crawl = queue("crawl");
  await flow(
    { ref: "crawl", queue: crawl, payload: 1 },
    { ref: "index", queue: crawl, payload: 2, after: "crawl" },
  );
  await drain(
    withFlows(crawl),
    async (task) => {
      if (task.payload !== 1) return;
      const added = await task.addBefore("index", [{ ref: "page", queue: queue("pages"), payload: 3 }]);
      expect(added).toMatchObject({ ok: true });
      await batch([{ queue: queue("others"), payload: 4 }], { id: "twice" });
      await batch([{ queue: queue("others"), payload: 4 }], { id: "twice" });
    },
    { concurrency: 1 },
  );
  const added = traces.shown().filter(({ name }) => /^enqueue (pages|others)/.test(name));
  expect(added.map(({ parent, attributes }) => [parent, attributes["messaging.sluice.duplicates"]])).toEqual([
    ["process crawl", undefined],
    ["process crawl", 1],
    ["process crawl", undefined],
  ]);
  await drained("pages");
  expect(parents()).toContain("enqueue pages > process pages");
});

test("over HTTP a flow continues the trace of the client, and of any other request", async () => {
  const app = createApp({ transport: rig.transport, tokens, tracing, flows });
  const client = createFlowClient({
    url: "http://sluice.test",
    token: secrets.all,
    fetch: async (url, init) => app.fetch(new Request(url, init)),
    tracing,
  });
  const added = await client.flow([{ ref: "a", queue: "mails", payload: 1 }]);
  expect(traces.shown()).toEqual([
    {
      name: "enqueue mails",
      kind: "PRODUCER",
      parent: "enqueue mails",
      attributes: { [COUNT]: 1, [ID]: added.tasks["a"] },
    },
    { name: "enqueue mails", kind: "CLIENT", attributes: { [COUNT]: 1, [ID]: added.tasks["a"] } },
  ]);
  await drained("mails");
  expect(parents()).toContain("enqueue mails > process mails");
  const response = await app.request("/v1/flows", {
    method: "POST",
    headers: {
      authorization: `Bearer ${secrets.all}`,
      "content-type": "application/json",
      traceparent: outside.traceparent,
    },
    body: JSON.stringify({ tasks: [{ ref: "a", queue: "mails", payload: 2 }] }),
  });
  expect(response.status).toBe(201);
  expect(parents()).toContain(`${outside.spanId} > enqueue mails`);
});
