import type { Context } from "../../../../serverless/cloudflare.ts";
import { exporter } from "./exporter.ts";
import worker from "./worker.ts";

/** The Worker of the documents, and a route that returns its finished spans. */
export default {
  fetch(request: Request, env: Readonly<Record<string, string>>, context: Context) {
    if (!request.url.endsWith("/spans")) return worker.fetch(request, env, context);
    const spans = exporter.getFinishedSpans().map((span) => ({
      name: span.name,
      traceId: span.spanContext().traceId,
      spanId: span.spanContext().spanId,
      parentId: span.parentSpanContext?.spanId,
      links: span.links.map((link) => link.context.spanId),
    }));
    return Response.json(spans);
  },
  scheduled: worker.scheduled,
};
