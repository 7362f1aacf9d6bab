import { type Span, SpanStatusCode } from "@opentelemetry/api";
import { summarizeError } from "../../kernel/errors/error-summary.ts";
import type { HandlerOutcome } from "../../kernel/hooks.ts";
import { errorType, outcomeAttributes } from "./attributes.ts";

/** Marks a span as failed. The message of an error is left out: that of a schema may quote a payload. */
export function fail(span: Span, error: unknown): Span {
  return span.setAttribute("error.type", errorType(error)).setStatus({ code: SpanStatusCode.ERROR });
}

/** The most errors of one span. */
const MOST_ERRORS = 10;

/**
 * Describes the outcomes of a handler's tasks.
 * @param exceptions whether to show errors with message and stack
 */
export function describeOutcomes(span: Span, outcomes: readonly HandlerOutcome[], exceptions: boolean): void {
  span.setAttributes(outcomeAttributes(outcomes.map(({ outcome }) => outcome)));
  const errors = new Set(outcomes.map(({ error }) => error).filter((error) => error !== undefined));
  const [first] = errors;
  if (first !== undefined) {
    fail(span, first);
    const message = exceptions ? summarizeError(first)?.message : undefined;
    if (message !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message });
  }
  if (exceptions) {
    for (const error of [...errors].slice(0, MOST_ERRORS)) {
      span.recordException(error instanceof Error ? error : (summarizeError(error)?.message ?? ""));
    }
  }
}
