import { InMemorySpanExporter } from "@opentelemetry/sdk-trace-base";

export const exporter = new InMemorySpanExporter();
