import {
  type Context,
  context,
  type Link,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type TextMapPropagator,
  trace,
  type Tracer,
  type TracerProvider,
} from "@opentelemetry/api";
import { invalidArgument } from "../../errors.ts";
import type {
  AddTraceHeaders,
  DrainTracing,
  Exchanged,
  HandlerCallTracing,
  TracedEnqueue,
  TracedTask,
  Tracing,
} from "../../kernel/tracing.ts";
import type { Enqueued, Settled, Settlement } from "../../kernel/options/types.ts";
import { onlyOptions, trueOrFalse } from "../../kernel/options/validation.ts";
import { attributesOf, errorType, idOf, operations, outcomeAttributes } from "./attributes.ts";
import { Guard } from "./guard.ts";
import { describeOutcomes, fail } from "./span-end.ts";
import { continuedContext, creationContext, headersOf, type Propagator, spanIn } from "./trace-headers.ts";

export type { Tracing } from "../../kernel/tracing.ts";

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
 * on, and the first failure is written to the console.
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
  return new QueueTracing({
    guard: new Guard(),
    tracer: () => (tracerProvider ?? trace).getTracer("sluice-queue"),
    propagator,
    exceptions: trueOrFalse(exceptions, "exceptions"),
    headersOfTask: new WeakMap(),
  });
}

/** What all spans are made with. */
interface Shared {
  readonly guard: Guard;
  readonly tracer: () => Tracer;
  readonly propagator: Propagator;
  readonly exceptions: boolean;
  /** The headers of the tasks that settlements are of. */
  readonly headersOfTask: WeakMap<Settlement, TracedTask["headers"]>;
}

class QueueTracing implements Tracing {
  readonly #shared: Shared;
  /** The headers of the request whose trace is continued. */
  readonly #request: Parameters<Tracing["continuing"]>[0] | undefined;

  constructor(shared: Shared, request?: Parameters<Tracing["continuing"]>[0]) {
    this.#shared = shared;
    this.#request = request;
  }

  async enqueue<R extends Enqueued | readonly Enqueued[]>(
    call: TracedEnqueue,
    run: (addTraceHeaders: AddTraceHeaders) => Promise<R>,
  ): Promise<R> {
    const { guard, propagator } = this.#shared;
    const begun = guard.try(() => {
      const active = this.#active();
      const span = this.#enqueueSpan(call, active);
      return { span, active: trace.setSpan(active, span) };
    });
    if (!begun) return run((headers) => headers);
    const { span, active } = begun;
    const addTraceHeaders = guard.try(() => headersOf(propagator, active));
    const added = await this.#endOnError(span, () =>
      guard.within(active, () => run((headers) => addTraceHeaders?.(headers) ?? headers)),
    );
    this.#end(span, () => {
      const results: readonly Enqueued[] = Array.isArray(added) ? added : [added];
      const [only] = results;
      if (results.length === 1 && only) span.setAttribute("messaging.message.id", only.id);
      const duplicates = results.filter(({ created }) => !created).length;
      if (duplicates > 0) span.setAttribute("messaging.sluice.duplicates", duplicates);
    });
    return added;
  }

  async exchange<R extends Exchanged>(
    queue: string,
    settlements: readonly Settlement[],
    run: () => Promise<R>,
  ): Promise<R> {
    const { guard } = this.#shared;
    const startTime = Date.now();
    const active = guard.try(() => this.#active()) ?? ROOT_CONTEXT;
    // An extend does not end the work on a task.
    const ended = Array.isArray(settlements) ? settlements.filter((one) => one?.outcome !== "extend") : [];
    const span = ended.length > 0 ? guard.try(() => this.#settleSpan(queue, ended, active)) : undefined;
    if (!span) {
      const received = await run().catch((error: unknown) => {
        // A long poll is aborted when its drain ends.
        const isAborted = errorType(error) === "aborted";
        if (!isAborted) guard.try(() => fail(this.#dequeueSpan(queue, [], active, startTime), error).end());
        throw error;
      });
      this.#received(queue, received, active, startTime);
      return received;
    }
    const result = await this.#endOnError(span, () => guard.within(trace.setSpan(active, span), run));
    this.#end(span, () => {
      const refused = result.settled?.find(({ ok }) => !ok) as Extract<Settled, { ok: false }> | undefined;
      if (refused) fail(span, refused);
    });
    this.#received(queue, result, active, startTime);
    return result;
  }

  noteTask(settlement: Settlement, headers: TracedTask["headers"]): void {
    if (headers) this.#shared.headersOfTask.set(settlement, headers);
  }

  drain(queue: string, wholeBatches: boolean): DrainTracing {
    const { guard } = this.#shared;
    const active = guard.try(() => context.active()) ?? ROOT_CONTEXT;
    return {
      noteTask: (settlement, headers) => this.noteTask(settlement, headers),
      request: (run) => guard.within(active, run),
      handlerCall: (tasks) => this.#handlerCall(queue, tasks, wholeBatches, active),
    };
  }

  continuing(headers: Parameters<Tracing["continuing"]>[0]): Tracing {
    return new QueueTracing(this.#shared, headers);
  }

  detached<R>(run: () => R): R {
    return this.#shared.guard.within(ROOT_CONTEXT, run);
  }

  /** The context that new spans belong to. */
  #active(): Context {
    const active = context.active();
    return this.#request ? continuedContext(this.#shared.propagator, active, this.#request) : active;
  }

  #enqueueSpan({ queue, tasks, many, overHttp }: TracedEnqueue, active: Context): Span {
    const given = Array.isArray(tasks) ? tasks : [];
    const attributes = attributesOf(operations.enqueue, queue, [], many ? given.length : undefined);
    // Over HTTP the server creates the tasks, so their context is that of the server's span.
    const kind = overHttp ? SpanKind.CLIENT : SpanKind.PRODUCER;
    const links = this.#linksTo(given.map((task) => ({ id: task?.id, headers: task?.headers })));
    return this.#shared.tracer().startSpan(`enqueue ${queue}`, { kind, attributes, links }, active);
  }

  #settleSpan(queue: string, settlements: readonly Settlement[], active: Context): Span {
    const tasks = settlements.map((one) => {
      return { id: idOf(one), headers: this.#shared.headersOfTask.get(one) };
    });
    const ids = tasks.map(({ id }) => id);
    const attributes = {
      ...attributesOf(operations.settle, queue, ids, tasks.length),
      ...outcomeAttributes(settlements.map(({ outcome }) => outcome)),
    };
    const links = this.#linksTo(tasks);
    const { tracer } = this.#shared;
    return tracer().startSpan(`settle ${queue}`, { kind: SpanKind.CLIENT, attributes, links }, active);
  }

  /** The span of a dequeue that has ended: so it can have its links from the start, which samplers see. */
  #dequeueSpan(queue: string, tasks: readonly TracedTask[], active: Context, startTime: number): Span {
    const ids = tasks.map(({ id }) => id);
    const attributes = attributesOf(operations.dequeue, queue, ids, tasks.length);
    const options = { kind: SpanKind.CLIENT, attributes, links: this.#linksTo(tasks), startTime };
    return this.#shared.tracer().startSpan(`dequeue ${queue}`, options, active);
  }

  /** Traces the dequeue of a request. One that finds no task has no span. */
  #received(queue: string, { tasks = [] }: Exchanged, active: Context, startTime: number): void {
    if (tasks.length === 0) return;
    this.#shared.guard.try(() => this.#dequeueSpan(queue, tasks, active, startTime).end());
  }

  #handlerCall(
    queue: string,
    tasks: Parameters<DrainTracing["handlerCall"]>[0],
    wholeBatches: boolean,
    active: Context,
  ): HandlerCallTracing {
    const { guard, exceptions } = this.#shared;
    const begun = guard.try(() => this.#processSpan(queue, tasks, wholeBatches, active));
    return {
      run: (handler) => (begun ? guard.within(begun.active, handler) : handler()),
      end: (outcomes) => {
        if (!begun) return;
        this.#end(begun.span, () => describeOutcomes(begun.span, outcomes, exceptions));
      },
    };
  }

  #processSpan(
    queue: string,
    tasks: Parameters<DrainTracing["handlerCall"]>[0],
    wholeBatches: boolean,
    active: Context,
  ) {
    const [first] = tasks;
    const created = wholeBatches ? undefined : creationContext(this.#shared.propagator, first?.headers);
    const ids = tasks.map(({ id }) => id);
    const attributes = {
      ...attributesOf(operations.process, queue, ids, wholeBatches ? tasks.length : undefined),
      ...(tasks.length === 1 && first && { "messaging.sluice.attempt": first.attempt }),
    };
    const links = this.#linksTo(tasks);
    const around = created && spanIn(active);
    if (around) links.push({ context: around });
    const parent = created ?? active;
    const options = { kind: SpanKind.CONSUMER, attributes, links };
    const span = this.#shared.tracer().startSpan(`process ${queue}`, options, parent);
    return { span, active: trace.setSpan(parent, span) };
  }

  /** Links to the contexts in which the tasks were enqueued. */
  #linksTo(
    tasks: readonly { readonly id: string | undefined; readonly headers: TracedTask["headers"] }[],
  ): Link[] {
    return tasks.flatMap(({ id, headers }) => {
      const created = creationContext(this.#shared.propagator, headers);
      const span = created && spanIn(created);
      return span
        ? [{ context: span, attributes: id === undefined ? {} : { "messaging.message.id": id } }]
        : [];
    });
  }

  /** Runs an operation. If it fails, its span ends with the error. */
  async #endOnError<R>(span: Span, run: () => Promise<R>): Promise<R> {
    try {
      return await run();
    } catch (error) {
      this.#shared.guard.try(() => fail(span, error).end());
      throw error;
    }
  }

  /** Ends a span, also if what describes its end fails. */
  #end(span: Span, describe: () => unknown): void {
    const { guard } = this.#shared;
    guard.try(describe);
    guard.try(() => span.end());
  }
}
