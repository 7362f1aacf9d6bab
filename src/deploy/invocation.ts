import type { TaskFailure } from "../drain/types.ts";
import { SluiceError } from "../errors.ts";
import { isOff } from "../http/parts.ts";
import { type Open, opening, type OpeningOptions } from "../open/opening.ts";
import type { DeploymentTools, OwnQueueOptions, WaitUntil } from "./declared/tools.ts";
import type { DeadLetter, OnDeadLetter } from "../kernel/record/dead-letter.ts";
import { callHook } from "../kernel/options/hook.ts";
import type { QueueOrName } from "../open/definition.ts";
import type { QueueOptions } from "../open/options.ts";
import type { Waker } from "../features/waking/index.ts";
import type { Drains } from "./drains.ts";
import type { InContext } from "./own-context.ts";
import type { Setup } from "./setup.ts";
import { deadLetterLine, failureLine } from "./task-log.ts";

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
  /** True if the requests of the tools count by themselves. Those of handlers are declared. @default false */
  readonly isCounted?: boolean | undefined;
  /** The headers of the request that it handles. Its enqueues continue their trace. @default none */
  readonly headers?: Headers | undefined;
}

/** What the deployment's own code gets in an invocation, and what is done with the failures and dead letters there. */
export interface InvocationTools<Env> {
  readonly tools: DeploymentTools<Env>;
  /** Opens a queue as the tools do. */
  readonly open: Open;
  /** Its waker. */
  readonly wake: Waker | undefined;
  readonly onDeadLetter: OnDeadLetter;
  /** Called with each attempt that failed in a consumer. */
  readonly onFailure: (failure: TaskFailure) => void;
}

/** What all parts of a deployment use. */
export interface ServiceContext<Env extends object> {
  readonly setup: Setup<Env>;
  /** What the deployment's queues have in common. */
  readonly ofQueues: OpeningOptions;
  /** Runs work in the context of no request. */
  readonly inOwnContext: InContext;
  /** The drains of a new invocation. A process has no limit in all. */
  readonly newDrains: () => Drains;
  /** See {@link toolsIn}. */
  readonly toolsIn: (invocation: Invocation) => InvocationTools<Env>;
  /** Takes the name of each queue that the deployment's own code opens. */
  readonly onOpen: (queue: string) => void;
  /** The waker of the deployment in an invocation. */
  readonly wakerIn: (invocation: Pick<Invocation, "timeLeft" | "drains">) => Waker | undefined;
}

/** Until the part of topics replaces it. */
const withoutTopics = (): never => {
  throw new SluiceError("unsupported", isOff("has no topics", "topics"));
};

/** Makes the tools of an invocation. */
export function toolsIn<Env extends object>(
  context: ServiceContext<Env>,
  invocation: Invocation,
): InvocationTools<Env> {
  const { setup, ofQueues } = context;
  const { env, options, log } = setup;
  const { keepRunning, waitUntil, headers, isCounted = false } = invocation;
  const drains = isCounted ? invocation.drains : undefined;
  const tracing = headers ? ofQueues.tracing?.continuing(headers) : ofQueues.tracing;
  const waker = context.wakerIn(invocation);
  const call = <What extends TaskFailure | DeadLetter, Name extends "onDeadLetter" | "onFailure">(
    name: Name,
    of:
      | { readonly [_ in Name]?: ((what: What, tools: DeploymentTools<Env>) => unknown) | undefined }
      | undefined,
    what: What,
  ) => {
    const hook = of?.[name];
    if (!hook) return;
    drains?.requests?.use();
    keepRunning(callHook(name, () => context.inOwnContext(() => hook(what, tools)), what, log));
  };
  const onDeadLetter: OnDeadLetter = (letter) => {
    log(deadLetterLine(letter));
    call("onDeadLetter", options, letter);
    call("onDeadLetter", setup.consumers.get(letter.queue)?.handler, letter);
  };
  const onFailure = (failure: TaskFailure) => {
    // A dead letter has a line of its own.
    if (failure.next !== "dead_letter") log(failureLine(failure));
    call("onFailure", options, failure);
  };
  const transport = drains?.counted(ofQueues.transport) ?? ofQueues.transport;
  const wake = waker && {
    ...waker,
    waitUntil,
    wakeAt: (queue: string, at: number) => {
      invocation.drains?.noteDelayed(queue);
      return waker.wakeAt?.(queue, at);
    },
  };
  const open = opening({ ...ofQueues, transport, tracing, wake, onDeadLetter });
  const tools: DeploymentTools<Env> = {
    env,
    waitUntil,
    queue: <In, Out>(queue: QueueOrName<In, Out>, options?: OwnQueueOptions<In, Out>) => {
      const opened = open(queue, options);
      context.onOpen(opened.name);
      return opened.queue();
    },
    schedules: <T>(queue: QueueOrName<T, unknown>, options?: Pick<QueueOptions, "encryption">) =>
      open<T, unknown>(queue, options).schedules(),
    topic: withoutTopics,
  };
  // Their getters make at the first use what few invocations need.
  for (const part of setup.parts.parts)
    Object.defineProperties(tools, Object.getOwnPropertyDescriptors(part.tools?.(open) ?? {}));
  return { tools, open, wake, onDeadLetter, onFailure };
}
