import { expect, test } from "vitest";
import { secrets } from "../../http/served.ts";
import { useWorker } from "./rig.ts";
import { outside } from "../../features/tracing/traces.ts";

interface WorkerSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId?: string;
  readonly links: readonly string[];
}

const worker = useWorker("test/features/tracing/documented/wrangler.toml");

const spansOnceThere = async (count: number): Promise<WorkerSpan[]> => {
  for (;;) {
    const response = await worker.fetch(new Request("https://traced.test/spans"));
    const spans = (await response.json()) as WorkerSpan[];
    if (spans.length >= count) return spans;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

test("a Worker carries a trace from the request to the handler, and to what that enqueues", async () => {
  const request = new Request("https://traced.test/v1/queues/orders/tasks", {
    method: "POST",
    headers: {
      authorization: `Bearer ${secrets.all}`,
      "content-type": "application/json",
      traceparent: outside.traceparent,
    },
    body: JSON.stringify({ payload: { order: 1 } }),
  });
  expect((await worker.fetch(request)).status).toBe(201);
  const spans = await spansOnceThere(8);
  const nameOf = (id: string | undefined) => spans.find(({ spanId }) => spanId === id)?.name ?? id;
  const shown = spans.map(({ name, traceId, parentId, links }) => ({
    name,
    parent: nameOf(parentId),
    links: links.map(nameOf),
    isInTrace: traceId === outside.traceId,
  }));
  const byName = shown.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const work = (queue: string, name: string) => ({
    name: `${name} ${queue}`,
    parent: undefined,
    links: [`enqueue ${queue}`],
    isInTrace: false,
  });
  const inTrace = { isInTrace: true };
  expect(byName).toEqual([
    work("invoices", "dequeue"),
    work("orders", "dequeue"),
    { name: "enqueue invoices", parent: "process orders", links: [], ...inTrace },
    { name: "enqueue orders", parent: outside.spanId, links: [], ...inTrace },
    { name: "process invoices", parent: "enqueue invoices", links: ["enqueue invoices"], ...inTrace },
    { name: "process orders", parent: "enqueue orders", links: ["enqueue orders"], ...inTrace },
    work("invoices", "settle"),
    work("orders", "settle"),
  ]);
});
