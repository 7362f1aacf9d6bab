import {
  type Context,
  context,
  type Link,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  trace,
  type Tracer,
} from "@opentelemetry/api";
import type { AddHeaders, DrainHooks, HandledTask, HandlerCallHooks } from "../../kernel/hooks.ts";
import type { LeasedTask, OnSettle } from "../../kernel/lease/leased-task.ts";
import type { Enqueued, EnqueueOptions, Settled, Settlement } from "../../kernel/options/types.ts";
import {
  attemptAttribute,
  attributesOf,
  enqueuedAttributes,
  errorType,
  idOf,
  operations,
  outcomeAttributes,
} from "./attributes.ts";
import type { Guard } from "./guard.ts";
import { describeOutcomes, fail } from "./span-end.ts";
import {
  continuedContext,
  creationContext,
  headersOf,
  type Propagator,
  type RequestHeaders,
  spanIn,
} from "./trace-headers.ts";

/** A task in a trace. Its headers may have the context in which it was enqueued. */
type TracedTask = Pick<LeasedTask, "id" | "headers">;

/** An enqueue of one task, or of several. */
interface TracedEnqueue {
  readonly queue: string;
  readonly tasks: readonly EnqueueOptions[];
  /** True for `enqueueMany`, even of one task. */
  readonly many: boolean;
  /** True if it is a request to a server, which then creates the tasks. */
  readonly overHttp: boolean;
}

/** What a settle, a dequeue, or both in one request, returned. */
interface Exchanged {
  readonly settled?: readonly Settled[];
  readonly tasks?: readonly TracedTask[];
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

/** The spans of calls, and of the work of drains. */
export class Spans {
  readonly #shared: Shared;
  /** The headers of the request whose trace is continued. */
  readonly #request: RequestHeaders | undefined;

  constructor(shared: Shared, request?: RequestHeaders) {
    this.#shared = shared;
    this.#request = request;
  }

  /**
   * The span of an enqueue.
   * @param run does it, and adds the trace headers to each task, or over HTTP to the request
   */
  async enqueue<R extends Enqueued | readonly Enqueued[]>(
    call: TracedEnqueue,
    run: (addTraceHeaders: AddHeaders) => Promise<R>,
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
    this.#end(span, () => span.setAttributes(enqueuedAttributes(Array.isArray(added) ? added : [added])));
    return added;
  }

  /**
   * The spans of a request that settles tasks, dequeues tasks, or does both.
   * @param settlements none if it only dequeues
   */
  async exchange<R extends Exchanged>(
    queue: string,
    settlements: readonly Settlement[],
    run: () => Promise<R>,
  ): Promise<R> {
    const { guard } = this.#shared;
    const startTime = Date.now();
    const active = guard.try(() => this.#active()) ?? ROOT_CONTEXT;
    // An extend does not end the work on a task.
    const ended = Array.isArray(settlements)
      ? settlements.filter((one) => one && one.outcome !== "extend")
      : [];
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

  /** Notes the headers of the task that a settlement is of, so that its span can link to that of the task. */
  readonly onSettle: OnSettle = (settlement, headers) => {
    if (headers) this.#shared.headersOfTask.set(settlement, headers);
  };

  /** The spans of a drain. They belong to the trace that is active now. */
  drain(queue: string, wholeBatches: boolean): DrainHooks {
    const { guard } = this.#shared;
    const active = guard.try(() => context.active()) ?? ROOT_CONTEXT;
    return {
      onSettle: this.onSettle,
      request: (run) => guard.within(active, run),
      handlerCall: (tasks) => this.#handlerCall(queue, tasks, wholeBatches, active),
    };
  }

  /** The spans of the same application that belong to the trace of a request. */
  continuing(request: RequestHeaders): Spans {
    return new Spans(this.#shared, request);
  }

  /** Runs work that belongs to no trace. */
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
    tasks: readonly HandledTask[],
    wholeBatches: boolean,
    active: Context,
  ): HandlerCallHooks {
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

  #processSpan(queue: string, tasks: readonly HandledTask[], wholeBatches: boolean, active: Context) {
    const [first] = tasks;
    const created = wholeBatches ? undefined : creationContext(this.#shared.propagator, first?.headers);
    const ids = tasks.map(({ id }) => id);
    const attributes = {
      ...attributesOf(operations.process, queue, ids, wholeBatches ? tasks.length : undefined),
      ...(tasks.length === 1 && first && attemptAttribute(first)),
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
