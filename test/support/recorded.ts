import type { Command, QueueOptions, Transport } from "../../src/index.ts";
import type { Rig } from "./rig.ts";

/**
 * A rig's queue, and the requests that it sends.
 * @param answered called after each request, before its answer is returned
 */
export function recorded<In = unknown, Out = In>(
  rig: Rig,
  options: Partial<QueueOptions<In, Out>> = {},
  answered: () => unknown = () => {},
) {
  const requests: Command[][] = [];
  const transport: Transport = {
    async send(commands, options) {
      requests.push([...commands]);
      const outcomes = await rig.transport.send(commands, options);
      await answered();
      return outcomes;
    },
  };
  const scripts = () =>
    requests.map((commands) => commands.map((command) => ("script" in command ? command.script.name : "")));
  return { queue: rig.queue<In, Out>({ transport, ...options }), transport, requests, scripts };
}

/** Makes `count` calls at once. */
export const times = <T>(count: number, call: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => call(i)));

/** The end of a call that its signal aborted. */
export const aborted = { status: "rejected", reason: { code: "aborted" } };
