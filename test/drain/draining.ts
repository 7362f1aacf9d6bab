import { expect } from "vitest";
import { SluiceError, type Transport } from "../../src/index.ts";
import { StoppedError, type StopReason } from "../../src/drain/failures.ts";
import type { DrainReport, Task } from "../../src/drain/types.ts";
import type { Rig } from "../support/rig.ts";

/** A report of zeros, except for the given fields. */
export const reported = (said: Partial<DrainReport> = {}): DrainReport => ({
  completed: 0,
  requeued: 0,
  rejected: 0,
  handedBack: 0,
  lost: 0,
  ended: "empty",
  nextDueAt: null,
  ...said,
});

/** The same, if more tasks are waiting now or soon. */
export const reportedWithMore = (said: Partial<DrainReport>) => ({
  ...reported(said),
  nextDueAt: expect.any(Number) as number,
});

/** The scripts of each request that goes through it, in the order sent. */
export function noting(transport: Transport): { transport: Transport; sent: string[][] } {
  const sent: string[][] = [];
  const send: Transport["send"] = (commands, options) => {
    sent.push(commands.map((command) => ("script" in command ? command.script.name : command[0])));
    return transport.send(commands, options);
  };
  const { connected } = transport;
  return { transport: { send, ...(connected !== undefined && { connected }) }, sent };
}

/** A {@link StoppedError} as a task keeps it. */
export const stoppedError = (code: StopReason) => ({
  name: "StoppedError",
  message: new StoppedError(code).message,
});

/** The same of a handler that did not stop, and was given up. */
export const givenUpError = (code: StopReason) => ({
  name: "StoppedError",
  message: expect.stringMatching(
    new RegExp(`^${new StoppedError(code).message}; given up after \\d+ ms$`),
  ) as string,
});

/** Resolves to the reason why the task has to stop. */
export const stopOf = ({ signal }: Pick<Task, "signal">) =>
  new Promise<unknown>((resolve) => {
    if (signal.aborted) resolve(signal.reason);
    signal.addEventListener("abort", () => resolve(signal.reason));
  });

/** A handler that follows its signal, as `fetch` does: it throws the signal's reason. */
export const followingSignal = async (task: Pick<Task, "signal">): Promise<never> => {
  throw await stopOf(task);
};

export const thrower = (thrown: unknown) => (): never => {
  throw thrown;
};

export const hanging = () => new Promise<never>(() => {});

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

export const unreachable = new SluiceError("redis_unreachable", "no answer");

/**
 * A transport that fails chosen requests, numbered from 0: before they reach Redis, or after, like a lost reply; or with
 * that error.
 */
export function failing(
  rig: Pick<Rig, "transport">,
  when: (request: number, scripts: string) => "before" | "after" | Error | undefined,
): Transport {
  let requests = 0;
  const send: Transport["send"] = async (commands, options) => {
    const scripts = commands.map((command) => ("script" in command ? command.script.name : "")).join(" ");
    const fault = when(requests++, scripts);
    if (fault instanceof Error) throw fault;
    if (fault === "before") throw unreachable;
    const outcomes = await rig.transport.send(commands, options);
    if (fault === "after") throw unreachable;
    return outcomes;
  };
  return { send };
}
