import { propagation, type TextMapPropagator, trace, type TracerProvider } from "@opentelemetry/api";
import { invalidArgument } from "../../errors.ts";
import { onlyOptions, trueOrFalse } from "../../kernel/options/validation.ts";
import type { Tracing } from "./types.ts";
import { Guard } from "./guard.ts";
import { tracingBy } from "./layer.ts";
import { Spans } from "./spans.ts";

export type { Tracing } from "./types.ts";

/** Options of {@link openTelemetry}. */
export interface OpenTelemetryOptions {
  /** Makes the spans. @default the global one of `@opentelemetry/api` */
  readonly tracerProvider?: TracerProvider | undefined;
  /** Writes contexts to headers, and reads them. @default the global one of `@opentelemetry/api` */
  readonly propagator?: TextMapPropagator | undefined;
  /**
   * Whether the spans of handlers have the errors that these throw, with message and stack. They are not
   * encrypted, even if the queue is. False leaves only `error.type`.
   * @default true
   */
  readonly exceptions?: boolean | undefined;
}

/**
 * Traces queues by OpenTelemetry, in the form of its conventions for messaging. It needs the package
 * `@opentelemetry/api`, and without a tracer provider it makes no spans. If OpenTelemetry fails, the queue goes
 * on, and the first failure is logged.
 * @returns the option `tracing` of queues, clients, apps and deployments
 * @throws {SluiceError} `invalid_argument`
 * @example
 * export default sluice({ tracing: openTelemetry(), consumers: { emails: send } });
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): Tracing {
  onlyOptions(options, ["tracerProvider", "propagator", "exceptions"]);
  const { tracerProvider, propagator = propagation, exceptions = true } = options;
  if (tracerProvider !== undefined && typeof tracerProvider?.getTracer !== "function") {
    throw invalidArgument("tracerProvider", "must be a TracerProvider of OpenTelemetry");
  }
  if (typeof propagator?.inject !== "function" || typeof propagator.extract !== "function") {
    throw invalidArgument("propagator", "must be a TextMapPropagator of OpenTelemetry");
  }
  const guard = new Guard();
  const spans = new Spans({
    guard,
    tracer: () => (tracerProvider ?? trace).getTracer("sluice-queue"),
    propagator,
    exceptions: trueOrFalse(exceptions, "exceptions"),
    headersOfTask: new WeakMap(),
  });
  return tracingBy(spans, guard);
}
