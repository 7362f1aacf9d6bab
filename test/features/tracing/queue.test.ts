import { context, propagation, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import {
  AlwaysOffSampler,
  BasicTracerProvider,
  InMemorySpanExporter,
  ParentBasedSampler,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { beforeEach, describe, expect, test } from "vitest";
import { drain, type Queue } from "../../../src/index.ts";
import { MAX_REQUEST_BYTES } from "../../../src/kernel/options/limits.ts";
import { openTelemetry } from "../../../src/features/tracing/open-telemetry.ts";
import { useRig } from "../../support/rig.ts";
import { COUNT, ID, inSpan, OUTCOME, outside, useTraces } from "./traces.ts";

const rig = useRig();
const traces = useTraces();
const tracing = openTelemetry();
let queue: Queue;
beforeEach(() => {
  queue = rig.queue({ tracing });
});

/** Spans of these kinds, without the attributes that all have. */
const enqueued = (attributes: object, more = {}) =>
  ({ name: "enqueue emails", kind: "PRODUCER", attributes, ...more }) as const;
const requested = (name: string, links: number, attributes: object) => ({
  name,
  kind: "CLIENT",
  ...(links > 0 && { links: Array<string>(links).fill("enqueue emails") }),
  attributes: { [COUNT]: 1, ...attributes },
});

const headersOf = async () => (await rig.queue().dequeue()).map(({ headers }) => headers);

describe("an enqueue", () => {
  test("has a span in the trace that is active, and the task carries its context", async () => {
    const { id } = await inSpan("request", () => queue.enqueue({ to: "a" }));
    expect(traces.shown()).toEqual([
      enqueued({ [ID]: id }, { parent: "request" }),
      { name: "request", kind: "INTERNAL", attributes: {} },
    ]);
    const { traceId, spanId } = traces.finished()[0]!.spanContext();
    expect(await headersOf()).toEqual([{ traceparent: `00-${traceId}-${spanId}-01` }]);
  });

  test("of several tasks has one span, which all of them carry beside their own headers", async () => {
    await queue.enqueueMany([{ payload: 1, headers: { kind: "a" } }, { payload: 2 }]);
    expect(traces.shown()).toEqual([enqueued({ [COUNT]: 2 })]);
    const { traceId, spanId } = traces.finished()[0]!.spanContext();
    const traceparent = `00-${traceId}-${spanId}-01`;
    const tasks = await rig.queue().dequeue({ max: 2 });
    expect(tasks.map(({ headers }) => headers)).toEqual([{ kind: "a", traceparent }, { traceparent }]);
  });

  test("of the same turn as others has a span of its own, which its task carries", async () => {
    await Promise.all([queue.enqueue(1), queue.enqueue(2)]);
    const ids = new Set(traces.finished().map((span) => span.spanContext().spanId));
    const tasks = await rig.queue().dequeue({ max: 2 });
    const carried = tasks.map(({ headers }) => headers?.["traceparent"]?.split("-")[2]);
    expect(ids.size).toBe(2);
    expect(new Set(carried)).toEqual(ids);
  });

  test("carries baggage too", async () => {
    const baggage = propagation.createBaggage({ tenant: { value: "acme" } });
    await context.with(propagation.setBaggage(ROOT_CONTEXT, baggage), () => queue.enqueue(1));
    expect(await headersOf()).toEqual([
      { traceparent: expect.any(String) as string, baggage: "tenant=acme" },
    ]);
  });

  test("that is not sampled has no span, and the task carries that decision to its handler", async () => {
    const tracerProvider = new BasicTracerProvider({
      sampler: new ParentBasedSampler({ root: new AlwaysOffSampler() }),
      spanProcessors: [new SimpleSpanProcessor(new InMemorySpanExporter())],
    });
    const unsampled = rig.queue({ tracing: openTelemetry({ tracerProvider }) });
    await unsampled.enqueue(1);
    const seen: unknown[] = [];
    await drain(unsampled, ({ headers }) => {
      seen.push(headers?.["traceparent"]?.slice(-3), trace.getActiveSpan()?.spanContext().traceFlags);
    });
    expect(seen).toEqual(["-00", 0]);
  });

  test("keeps a traceparent of the caller, and links to it", async () => {
    const { traceparent } = outside;
    const { id } = await queue.enqueue(1, { headers: { Traceparent: traceparent } });
    expect(await headersOf()).toEqual([{ Traceparent: traceparent }]);
    await queue.enqueue(1, { id: "b", headers: { traceparent } });
    expect(await headersOf()).toEqual([{ traceparent }]);
    expect(traces.shown()).toEqual([
      enqueued({ [ID]: id }),
      enqueued({ [ID]: "b" }, { links: [outside.spanId] }),
    ]);
  });

  test("is added without its context if the headers would be too large", async () => {
    const headers = { large: "x".repeat(16_340) };
    await queue.enqueue(1, { headers });
    expect(await headersOf()).toEqual([headers]);
  });

  test("of as many bytes as a request may have is added without its context", async () => {
    // Each record has the payload, two quotes and two more bytes.
    const tasks = Array.from({ length: 10 }, () => ({ payload: "x".repeat(MAX_REQUEST_BYTES / 10 - 4) }));
    await queue.enqueueMany(tasks);
    const [task] = await rig.queue().dequeue();
    expect(task?.headers).toBeUndefined();
    const tooMany = [...tasks, { payload: 1 }];
    await expect(queue.enqueueMany(tooMany)).rejects.toMatchObject({ code: "too_large" });
  });

  test("with a used idempotency key is a resend, though its trace is another", async () => {
    const { id } = await queue.enqueue(1, { idempotencyKey: "order-1" });
    expect(await queue.enqueue(1, { idempotencyKey: "order-1" })).toEqual({ id, created: true });
    expect(await rig.queue().enqueue(1, { idempotencyKey: "order-1" })).toEqual({ id, created: true });
    await expect(queue.enqueue(2, { idempotencyKey: "order-1" })).rejects.toMatchObject({
      code: "idempotency_key_reused",
    });
    const several = [{ payload: 1, id: "a" }, { payload: 2 }];
    const added = await queue.enqueueMany(several, { idempotencyKey: "order-2" });
    expect(await queue.enqueueMany(several, { idempotencyKey: "order-2" })).toEqual(added);
    expect(await rig.queue().counts()).toMatchObject({ pending: 3 });
  });

  test("that adds nothing shows it, also by a dedup key and by again", async () => {
    await queue.enqueue(1, { id: "a" });
    await queue.enqueue(1, { id: "a" });
    await queue.enqueueMany(["a", "b"].map((id) => ({ payload: 1, id })));
    const dedup = { key: "k", window: "1h" } as const;
    const first = await queue.enqueue(1, { dedup });
    expect(await queue.enqueue(1, { dedup })).toEqual({ ...first, created: false });
    const duplicates = traces.shown().map(({ attributes }) => attributes["messaging.sluice.duplicates"]);
    expect(duplicates).toEqual([undefined, 1, 1, undefined, 1]);
  });

  test("that fails has the code of its error, without the message, which may quote a payload", async () => {
    await rig.operator().configure({ maxPending: 1 });
    await rig.queue().enqueue(0);
    await expect(queue.enqueue(1)).rejects.toMatchObject({ code: "queue_full" });
    const invalid = { code: "invalid_argument" };
    await expect(queue.enqueue(1, { headers: 3 as never })).rejects.toMatchObject(invalid);
    await expect(queue.enqueueMany(3 as never)).rejects.toMatchObject(invalid);
    expect(traces.shown()).toEqual([
      enqueued({ "error.type": "queue_full" }, { error: true }),
      enqueued({ "error.type": "invalid_argument" }, { error: true }),
      enqueued({ "error.type": "invalid_argument", [COUNT]: 0 }, { error: true }),
    ]);
  });
});

describe("a dequeue and a settle", () => {
  test("link to the enqueues of their tasks, and an empty dequeue has no span", async () => {
    expect(await queue.dequeue()).toHaveLength(0);
    const ids = [(await queue.enqueue(1)).id, (await queue.enqueue(2)).id];
    const [first, second] = await queue.dequeue({ max: 2 });
    await first?.complete();
    await queue.settle([
      { receipt: second!.receipt, outcome: "extend" },
      { receipt: second!.receipt, outcome: "requeue" },
    ]);
    const [again] = await queue.dequeue();
    await again?.extend();
    expect(traces.shown()).toEqual([
      requested("dequeue emails", 2, { [COUNT]: 2 }),
      requested("dequeue emails", 1, { [ID]: ids[1] }),
      enqueued({ [ID]: ids[0] }),
      enqueued({ [ID]: ids[1] }),
      requested("settle emails", 1, { [ID]: ids[0], [OUTCOME]: "complete" }),
      requested("settle emails", 0, { [ID]: ids[1], [OUTCOME]: "requeue" }),
    ]);
  });

  test("in one request have a span each, and a refused settlement shows its code", async () => {
    await queue.enqueue(1);
    await queue.enqueue(2);
    const [task] = await queue.dequeue();
    const settlements = [{ receipt: task!.receipt, outcome: "reject" }] as const;
    await queue.settleAndDequeue(settlements);
    const stale = task!.receipt.replace(/^1\.\d+\.\d+/, "1.1.99");
    await queue.settleAndDequeue([
      { receipt: stale, outcome: "complete" },
      { receipt: stale, outcome: "requeue" },
    ]);
    const refused = {
      [`${OUTCOME}.complete`]: 1,
      [`${OUTCOME}.requeue`]: 1,
      "error.type": "lease_lost",
    };
    const named = traces.shown().filter(({ name }) => name !== "enqueue emails");
    expect(named).toEqual([
      requested("dequeue emails", 1, { [ID]: task!.id }),
      requested("dequeue emails", 1, { [ID]: expect.any(String) }),
      requested("settle emails", 0, { [ID]: task!.id, [OUTCOME]: "reject" }),
      { ...requested("settle emails", 0, { [COUNT]: 2, ...refused }), error: true },
    ]);
  });
});
