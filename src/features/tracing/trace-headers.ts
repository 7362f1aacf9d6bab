import {
  type Context,
  isSpanContextValid,
  ROOT_CONTEXT,
  type SpanContext,
  type TextMapGetter,
  type TextMapPropagator,
  type TextMapSetter,
  trace,
} from "@opentelemetry/api";
import type { AddHeaders } from "../../kernel/hooks.ts";
import { asciiJson, MAX_HEADER_BYTES } from "../../kernel/record/record.ts";

type Headers = Readonly<Record<string, string>>;

/** What writes a context to headers and reads it, such as OpenTelemetry's global propagator. */
export type Propagator = Pick<TextMapPropagator, "inject" | "extract">;

const setter: TextMapSetter<Record<string, string>> = {
  set(headers, name, value) {
    if (typeof value === "string") headers[name] = value;
  },
};

const taskHeaders: TextMapGetter<Headers> = {
  keys: (headers) => Object.keys(headers),
  get: (headers, name) => (Object.hasOwn(headers, name) ? headers[name] : undefined),
};

/** The headers of an HTTP request, as far as a propagator reads them. */
export interface RequestHeaders {
  get(name: string): string | null;
}

const requestHeaders: TextMapGetter<RequestHeaders> = {
  keys: () => [],
  get(headers, name) {
    const value = headers.get(name) ?? undefined;
    // If the caller's `fetch` is instrumented too, it adds a second traceparent, which is the nearer one.
    return name === "traceparent" ? value?.split(",").at(-1)?.trim() : value;
  },
};

/** Returns a function that adds the headers of a context. */
export function headersOf(propagator: Propagator, traced: Context): AddHeaders {
  const added: Record<string, string> = {};
  propagator.inject(traced, added, setter);
  const names = Object.keys(added).map((name) => name.toLowerCase());
  return (headers) => {
    const own = Object.keys(headers ?? {}).some((name) => names.includes(name.toLowerCase()));
    if (own || names.length === 0) return headers;
    const all = { ...headers, ...added };
    return asciiJson(all).length > MAX_HEADER_BYTES ? headers : all;
  };
}

/** The context in which a task was enqueued; undefined if its headers have none. */
export function creationContext(propagator: Propagator, headers: Headers | undefined): Context | undefined {
  if (headers === undefined) return undefined;
  const created = propagator.extract(ROOT_CONTEXT, headers, taskHeaders);
  return spanIn(created) && created;
}

/** The active context, or if it has no span, that of the request. */
export function continuedContext(propagator: Propagator, active: Context, headers: RequestHeaders): Context {
  return spanIn(active) ? active : propagator.extract(active, headers, requestHeaders);
}

/** The valid span context in a context. */
export function spanIn(from: Context): SpanContext | undefined {
  const span = trace.getSpanContext(from);
  return span && isSpanContextValid(span) ? span : undefined;
}
