import { operations } from "../../../src/http/operations/index.ts";
import { context, SpanKind, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { afterEach, describe, expect, test } from "vitest";
import { serve, type Server, type ServeOptions } from "../../../serverless/node.ts";
import { createClient } from "../../../src/client/index.ts";
import { createApp } from "../../../src/http/app.ts";
import { defineQueue, drain, Queue } from "../../../src/index.ts";
import { openTelemetry } from "../../../src/features/tracing/open-telemetry.ts";
import { secrets, tokens } from "../../http/served.ts";
import { useRig } from "../../support/rig.ts";
import { outside, type ShownSpan, useTraces } from "./traces.ts";

const rig = useRig({ checkInvariants: false });
const traces = useTraces();
const tracing = openTelemetry();

const { traceparent } = outside;
const authorization = `Bearer ${secrets.all}`;
const post = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  headers: { authorization, "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});

/** The parents of the spans that are not alone in their trace, by name. */
const parents = (shown: readonly ShownSpan[]) =>
  shown.filter(({ kind }) => kind !== "CLIENT").map(({ name, parent }) => `${parent ?? "none"} > ${name}`);

describe("a deployment", () => {
  let server: Server | undefined;
  afterEach(async () => {
    await server?.close();
    server = undefined;
  });
  const start = async (options: ServeOptions = {}) =>
    (server = await serve({
      env: { REDIS_URL: rig.redis.url, SLUICE_TOKENS: JSON.stringify(tokens) },
      port: 0,
      hostname: "127.0.0.1",
      signals: false,
      tracing,
      ...options,
    }));

  test("carries a trace from the request that enqueues to the handler, and to what that enqueues", async () => {
    const headers: unknown[] = [];
    const { url } = await start({
      consumers: {
        first: async (_, __, { queue }) => void (await queue("second").enqueue(2)),
        second: (task) => void headers.push(task.headers),
      },
    });
    await fetch(`${url}/v1/queues/first/tasks`, post({ payload: 1 }, { traceparent }));
    await traces.until(8);
    expect(parents(traces.shown())).toEqual([
      `${outside.spanId} > enqueue first`,
      "process first > enqueue second",
      "enqueue first > process first",
      "enqueue second > process second",
    ]);
    const second = traces
      .finished()
      .find(({ name }) => name === "enqueue second")!
      .spanContext();
    expect(headers).toEqual([{ traceparent: `00-${outside.traceId}-${second.spanId}-01` }]);
  });

  test("continues the trace of a request to its own fetch; an active span comes first", async () => {
    const emails = defineQueue<number>("mails");
    const { url } = await start({
      queues: [emails],
      async fetch(request, { queue }) {
        const enqueue = async () => {
          await queue(emails).enqueue(1);
          await emails.enqueue(2);
        };
        if (request.url.endsWith("/spanned")) {
          await trace.getTracer("http").startActiveSpan("GET", (span) => enqueue().finally(() => span.end()));
        } else await enqueue();
        return Response.json({});
      },
    });
    await fetch(`${url}/plain`, { headers: { traceparent } });
    // The own methods know no request.
    const plain = [`${outside.spanId} > enqueue mails`, "none > enqueue mails"];
    expect(parents(traces.shown()).toSorted()).toEqual(plain);
    await fetch(`${url}/spanned`, { headers: { traceparent } });
    const spanned = ["GET > enqueue mails", "GET > enqueue mails", "none > GET"];
    expect(parents(traces.shown()).toSorted()).toEqual([...plain, ...spanned].toSorted());
  });

  test("refuses another value as its tracing", async () => {
    await expect(start({ tracing: {} as never })).rejects.toMatchObject({ path: "tracing" });
  });
});

describe("the client", () => {
  const app = (options: object) => createApp({ operations, transport: rig.transport, tokens, ...options });
  const clientOf = (server: ReturnType<typeof app>, options: object) =>
    createClient({
      url: "http://sluice.test",
      token: secrets.all,
      fetch: async (url, init) => server.fetch(new Request(url, init)),
      ...options,
    });

  test("continues its trace in the server, and its drain the trace of each task", async () => {
    const queue = clientOf(app({ tracing }), { tracing }).queue("mails");
    const { id } = await trace
      .getTracer("app")
      .startActiveSpan("request", (span) => queue.enqueue(1).finally(() => span.end()));
    await queue.enqueueMany([{ payload: 2, id: "b" }]);
    await drain(queue, () => {}, { concurrency: 1, batch: 10 });
    expect(traces.shown().map(({ attributes: _, ...span }) => span)).toEqual([
      { name: "dequeue mails", kind: "CLIENT", links: ["enqueue mails", "enqueue mails"] },
      { name: "enqueue mails", kind: "PRODUCER", parent: "enqueue mails" },
      { name: "enqueue mails", kind: "CLIENT", parent: "request" },
      { name: "enqueue mails", kind: "PRODUCER", parent: "enqueue mails" },
      { name: "enqueue mails", kind: "CLIENT" },
      { name: "process mails", kind: "CONSUMER", parent: "enqueue mails", links: ["enqueue mails"] },
      { name: "process mails", kind: "CONSUMER", parent: "enqueue mails", links: ["enqueue mails"] },
      { name: "request", kind: "INTERNAL" },
      { name: "settle mails", kind: "CLIENT", links: ["enqueue mails", "enqueue mails"] },
    ]);
    const processed = traces.finished().filter(({ name }) => name === "process mails");
    expect(processed.map(({ attributes }) => attributes["messaging.message.id"])).toEqual([id, "b"]);
    const producers = traces.finished().filter(({ kind }) => kind === SpanKind.PRODUCER);
    expect(processed.map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual(
      producers.map((span) => span.spanContext().spanId),
    );
  });

  test("sends the same traceparent with each copy of a request, and a resend of the call another", async () => {
    const server = app({ tracing });
    const sent: (string | null)[] = [];
    const queue = clientOf(server, {
      tracing,
      fetch: async (url: string, init: RequestInit) => {
        const request = new Request(url, init);
        sent.push(request.headers.get("traceparent"));
        const response = await server.fetch(request);
        return sent.length === 1 ? new Response("", { status: 503 }) : response;
      },
    }).queue("mails");
    const first = await queue.enqueue(1, { idempotencyKey: "order-1" });
    const again = await queue.enqueue(1, { idempotencyKey: "order-1" });
    expect(again).toEqual(first);
    expect(first.created).toBe(true);
    expect(sent.map((one) => sent.indexOf(one))).toEqual([0, 0, 2]);
    expect(await new Queue("mails", { transport: rig.transport }).counts()).toMatchObject({ pending: 1 });
  });

  test("whose fetch is instrumented too continues the trace of the nearer span", async () => {
    const nearer = traceparent.replace(outside.spanId, "00f067aa0ba902b7");
    const request = new Request(
      "http://sluice.test/v1/queues/mails/tasks",
      post({ payload: 1 }, { traceparent: `${traceparent}, ${nearer}` }),
    );
    expect((await app({ tracing }).fetch(request)).status).toBe(201);
    expect(parents(traces.shown())).toEqual(["00f067aa0ba902b7 > enqueue mails"]);
  });

  test("of a server without traces enqueues as always", async () => {
    const queue = clientOf(app({}), { tracing }).queue("mails");
    await queue.enqueue(1);
    const [task] = await queue.dequeue();
    expect(task?.headers).toBeUndefined();
  });
});

test("without a context manager the trace of a request still reaches the handler of its task", async () => {
  const manager = new AsyncLocalStorageContextManager().enable();
  context.disable();
  try {
    const app = createApp({ operations, transport: rig.transport, tokens, tracing });
    const init = post({ payload: 1 }, { traceparent });
    await app.fetch(new Request("http://sluice.test/v1/queues/mails/tasks", init));
    const queue = new Queue("mails", { transport: rig.transport, tracing });
    await drain(queue, () => queue.enqueue(2, { delay: "1h" }));
    expect(parents(traces.shown())).toEqual([
      `${outside.spanId} > enqueue mails`,
      // The handler runs in no context, so what it enqueues begins a trace.
      "none > enqueue mails",
      "enqueue mails > process mails",
    ]);
  } finally {
    context.setGlobalContextManager(manager);
  }
});
