import type { DeploymentTools, OwnQueueOptions, WaitUntil } from "../../src/declared/tools.ts";
import { type OnDeadLetter, reportDeadLetter } from "../../src/queue/core/dead-letter.ts";
import type { Tracing } from "../../src/queue/core/tracing.ts";
import type { Transport } from "../../src/queue/redis/transport.ts";
import { Schedules } from "../../src/queue/schedules/schedules.ts";
import type { QueueDefinition, QueueOrName } from "../../src/queue/tasks/definition.ts";
import { Queue } from "../../src/queue/tasks/queue.ts";
import type { Waker } from "../../src/queue/tasks/waker.ts";
import type { Offload } from "../../src/queue/values/offload.ts";
import type { Drains } from "./drains.ts";
import type { Platform, ServiceOptions } from "./options.ts";
import type { WithOffload } from "./object-stores.ts";
import { logDeadLetter } from "./task-log.ts";

/** Least time that work gets which begins in an invocation, ms. */
export const LEAST_TIME = 1_000;

/** One call of the deployment by its platform, or a running process. */
export interface Invocation {
  /** Keeps work running: after the response, or before it if the platform cannot. */
  readonly keepRunning: WaitUntil;
  /** The `waitUntil` of handlers, `fetch` and the hook: `keepRunning`, or undefined if that would delay a response. */
  readonly waitUntil: WaitUntil | undefined;
  /** How much longer a consumer may work here, ms; undefined if none may. */
  readonly timeLeft: (() => number) | undefined;
  /** The drains that run here. @default none yet */
  readonly drains?: Drains | undefined;
  /** The headers of the request that it handles. Its enqueues continue their trace. @default none */
  readonly headers?: Headers | undefined;
}

/** What the deployment's own code gets in an invocation, and what is done with the dead letters there. */
export interface InvocationTools<Env> {
  readonly tools: DeploymentTools<Env>;
  readonly onDeadLetter: OnDeadLetter;
}

/** What the tools need of the deployment. */
interface ToolsContext<Env> {
  readonly env: Env;
  readonly transport: Transport;
  readonly prefix: string | undefined;
  readonly coalesce: Platform["coalesce"];
  /** The deployment's own hook for dead letters. */
  readonly onDeadLetter: ServiceOptions<Env>["onDeadLetter"];
  /** The queue as the deployment declares it; undefined if it does not. */
  readonly definitionOf: (name: string) => QueueDefinition | undefined;
  readonly tracing: Tracing | undefined;
  readonly offloadOf: (queue: WithOffload) => Offload | undefined;
  readonly wakerIn: (invocation: Pick<Invocation, "timeLeft" | "drains">) => Waker | undefined;
}

/** Makes the tools of an invocation. */
export function toolsIn<Env>(context: ToolsContext<Env>, invocation: Invocation): InvocationTools<Env> {
  const { env, transport, prefix, onDeadLetter: hook, definitionOf } = context;
  const { keepRunning, waitUntil, headers } = invocation;
  const tracing = headers ? context.tracing?.continuing(headers) : context.tracing;
  const waker = context.wakerIn(invocation);
  const onDeadLetter: OnDeadLetter = (letter) => {
    logDeadLetter(letter);
    if (hook) keepRunning(reportDeadLetter(() => hook(letter, tools), letter));
  };
  const shared = { transport, prefix, wake: waker && { ...waker, waitUntil }, onDeadLetter };
  // If the consumer takes another type than the caller, its schema refuses the payload.
  const declared = <In, Out>(queue: QueueOrName<In, Out>): QueueOrName<In, Out> =>
    (typeof queue === "string" && (definitionOf(queue) as QueueDefinition<In, Out> | undefined)) || queue;
  const tools: DeploymentTools<Env> = {
    env,
    waitUntil,
    queue: <In, Out>(queue: QueueOrName<In, Out>, options: OwnQueueOptions<In, Out> = {}) => {
      const { coalesce = context.coalesce } = options;
      const offload = context.offloadOf(queue);
      return new Queue(declared(queue), { tracing, offload, ...options, coalesce, ...shared });
    },
    schedules: (queue, options = {}) => new Schedules(declared(queue), { ...options, ...shared }),
  };
  return { tools, onDeadLetter };
}
