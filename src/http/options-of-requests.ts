import type { Waker } from "../features/waking/index.ts";
import type { OpeningOptions } from "../open/opening.ts";
import type { DeclaredQueue } from "../deploy/declared/define-queue.ts";
import { callHook } from "../kernel/options/hook.ts";
import type { Transport } from "../kernel/transport.ts";
import { wakeFailed } from "../log/lines.ts";
import type { Log } from "../log/logger.ts";
import { optionalFunction } from "../kernel/options/validation.ts";
import { checkedTracing } from "../features/tracing/types.ts";
import type { QueueDefinition } from "../open/definition.ts";
import type { AppOptions } from "./app-options.ts";
import { propsOf, type RequestContext, waitUntilOf } from "./services.ts";

/** The options of the app that are those of queues. */
type OfQueues = Omit<
  AppOptions,
  | "tokens"
  | "cronSecret"
  | "limits"
  | "onError"
  | "logger"
  | "beforeSweep"
  | "afterSweep"
  | "dashboard"
  | "operations"
  | "docs"
  | "deepSweep"
  | "order"
  | "debounce"
  | "flows"
>;

/**
 * Makes the options of a request's queues: all those of the app, with its transport and waker, and without its
 * tracing, which is for the routes that enqueue.
 * @param link gives a transport the edition of the scripts that the app needs
 * @throws {SluiceError} `invalid_argument`
 */
export function optionsOfRequests(
  options: OfQueues,
  log: Log,
  link: (transport: Transport, wake?: Waker) => Transport,
): (c: RequestContext) => OpeningOptions {
  const { definitionOf, offload, onDeadLetter, ofRequest, tracing, ...shared } = options;
  optionalFunction(definitionOf, "definitionOf");
  optionalFunction(onDeadLetter, "onDeadLetter");
  checkedTracing(tracing);
  const ofQueues = {
    ...shared,
    // Values that callers have encrypted stay as they are: only the callers have the keys.
    encryption: null,
    offload: typeof offload === "function" ? ({ name }: QueueDefinition) => offload(name) : offload,
    definitionOf: (name: string) => forCallers(definitionOf?.(name)),
  };
  const onError = (error: unknown, queue: string) => log(wakeFailed(queue, error));
  return (c) => {
    const { transport, wake } = { ...shared, ...ofRequest?.(propsOf(c)) };
    const waitUntil = waitUntilOf(c);
    const waker = wake && { onError, ...wake, waitUntil: waitUntil ?? wake.waitUntil };
    return {
      ...ofQueues,
      transport: link(transport, waker),
      wake: waker,
      onDeadLetter:
        onDeadLetter &&
        ((letter) => callHook("onDeadLetter", () => onDeadLetter(letter, waitUntil), letter, log)),
    };
  };
}

/** A declaration for callers over HTTP: they check payloads themselves, and say how many bytes they take. */
function forCallers(definition: QueueDefinition | undefined): QueueDefinition | undefined {
  if (!definition) return undefined;
  const { schema: _, maxBytes: __, ...options } = definition.options;
  const { settings } = definition as Partial<DeclaredQueue>;
  return { name: definition.name, options, ...(settings && { settings }) };
}
