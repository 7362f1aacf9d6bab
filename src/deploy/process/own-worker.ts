import { newTaskId } from "../../kernel/names/ids.ts";
import type { Worker } from "../../kernel/options/types.ts";

/** Most characters of a name. */
const MAX_NAME = 128;

/**
 * The worker that a process is: its machine and its id. Another process with both, such as the next one in a
 * container, is another incarnation, which begins with the time.
 * @param host the name of the machine; undefined if the process may not read it
 * @param every between its heartbeats, ms. Lists call it gone once it has missed two
 */
export function ownWorker(host: string | undefined, pid: number, every: number): Worker {
  const end = `:${pid}`;
  const machine = (host ?? "").replace(/[^!-~]/g, "-").replace(/^[^A-Za-z0-9]+/, "") || "process";
  return {
    name: machine.slice(0, MAX_NAME - end.length) + end,
    incarnation: newTaskId(),
    node: host?.slice(0, MAX_NAME),
    pid,
    goneAfter: Math.ceil(every * 2.5),
  };
}
