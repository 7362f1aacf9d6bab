import { context, propagation, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from "@opentelemetry/core";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { beforeAll, beforeEach } from "vitest";

/** A finished span, with the names of those that it belongs and links to. */
export interface ShownSpan {
  readonly name: string;
  readonly kind: string;
  /** The name of the parent, or its id if it is not among the spans; undefined for a root. */
  readonly parent?: string;
  readonly links?: readonly string[];
  /** Without those that all spans have. */
  readonly attributes: Record<string, unknown>;
  readonly error?: string | true;
  /** The messages of the exceptions. */
  readonly exceptions?: readonly unknown[];
}

export interface Traces {
  readonly provider: BasicTracerProvider;
  /** The finished spans, in the order of their names. */
  finished(): ReadableSpan[];
  /** What the spans show. */
  shown(): ShownSpan[];
  /** Waits for that many spans. */
  until(count: number): Promise<void>;
}

/** Sets OpenTelemetry up as an application does, with an exporter in memory. It is empty before each test. */
export function useTraces(): Traces {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  beforeAll(() => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    const propagators = [new W3CTraceContextPropagator(), new W3CBaggagePropagator()];
    propagation.setGlobalPropagator(new CompositePropagator({ propagators }));
    trace.setGlobalTracerProvider(provider);
  });
  beforeEach(() => exporter.reset());
  const finished = () =>
    exporter.getFinishedSpans().toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  return {
    provider,
    finished,
    shown: () => finished().map((span, _, all) => shownSpan(span, all)),
    async until(count) {
      while (exporter.getFinishedSpans().length < count)
        await new Promise((resolve) => setTimeout(resolve, 5));
    },
  };
}

function shownSpan(span: ReadableSpan, all: readonly ReadableSpan[]): ShownSpan {
  const nameOf = (id: string) => all.find((one) => one.spanContext().spanId === id)?.name ?? id;
  const { "messaging.system": system, "messaging.destination.name": queue, ...rest } = span.attributes;
  const { "messaging.operation.name": operation, "messaging.operation.type": type, ...attributes } = rest;
  const types = { enqueue: "send", dequeue: "receive", process: "process", settle: "settle" };
  const isOurs = span.instrumentationScope.name === "sluice-queue";
  if (isOurs && (system !== "sluice" || span.name !== `${String(operation)} ${String(queue)}`))
    throw new Error(`${span.name} has other attributes`);
  if (isOurs && types[operation as keyof typeof types] !== type)
    throw new Error(`${span.name} has another type`);
  const { code, message = true } = span.status;
  const exceptions = span.events.map((event) => event.attributes?.["exception.message"]);
  return {
    name: span.name,
    kind: SpanKind[span.kind],
    ...(span.parentSpanContext && { parent: nameOf(span.parentSpanContext.spanId) }),
    ...(span.links.length > 0 && { links: span.links.map((link) => nameOf(link.context.spanId)) }),
    attributes,
    ...(code === SpanStatusCode.ERROR && { error: message }),
    ...(exceptions.length > 0 && { exceptions }),
  };
}

/** A `traceparent` of a caller outside. */
export const outside = {
  traceId: "0af7651916cd43dd8448eb211c80319c",
  spanId: "b7ad6b7169203331",
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
};

/** The names of attributes. */
export const ID = "messaging.message.id";
export const COUNT = "messaging.batch.message_count";
export const OUTCOME = "messaging.sluice.outcome";

/** Runs in a span of the application. */
export const inSpan = <R>(name: string, run: () => Promise<R>): Promise<R> =>
  trace.getTracer("app").startActiveSpan(name, (span) => run().finally(() => span.end()));
