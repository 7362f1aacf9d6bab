import { serve } from "sluice-queue/node";
import { openTelemetry } from "sluice-queue/opentelemetry";

await serve({
  tracing: openTelemetry(),
  consumers: {
    orders: (task, _, { queue }) => queue("invoices").enqueue(task.payload),
  },
});
