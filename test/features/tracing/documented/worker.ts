import { context, propagation, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { BasicTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { type Context, sluice } from "sluice-queue/cloudflare";
import { openTelemetry } from "sluice-queue/opentelemetry";
import { exporter } from "./exporter.ts";

const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
trace.setGlobalTracerProvider(provider);
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
propagation.setGlobalPropagator(new W3CTraceContextPropagator());

type Env = Readonly<Record<string, string>>;

const app = sluice<Env>({
  tracing: openTelemetry(),
  consumers: {
    orders: (task, _, { queue }) => queue("invoices").enqueue(task.payload),
    invoices: ({ payload }) => console.log("an invoice for", payload),
  },
});

/** Sends the spans of some work before its invocation ends. */
async function flushed<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } finally {
    await provider.forceFlush();
  }
}

export default {
  fetch(request: Request, env: Env, ctx: Context): Promise<Response> {
    const waitUntil = (work: Promise<unknown>) => ctx.waitUntil(flushed(work));
    const response = app.fetch(request, env, { waitUntil });
    waitUntil(response);
    return response;
  },
  scheduled: (event: unknown, env: Env) => flushed(app.scheduled(event, env)),
};
