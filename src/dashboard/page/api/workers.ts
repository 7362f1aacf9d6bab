/** The requests of the dashboard for workers. */
import type * as types from "./types.ts";
import { type Cursor, pageOf, pathOf, queryOf } from "./path.ts";
import { send } from "./request.ts";

export const workers = (queue: string, cursor: Cursor, signal: AbortSignal): Promise<types.WorkerPage> =>
  send(pageOf(queue, "workers", cursor), { signal, commands: 4 });

/**
 * Takes the tasks of a worker back, up to the limit of one call.
 * @param incarnation which process of that name
 */
export const failWorker = (
  queue: string,
  { name, incarnation }: Pick<types.Worker, "name" | "incarnation">,
): Promise<types.WorkerFailed> =>
  send(pathOf(queue, "workers", name, "fail"), {
    method: "POST",
    body: { incarnation: incarnation ?? null },
    commands: 12,
  });

/** Takes a worker without tasks off the list. */
export const forgetWorker = (
  queue: string,
  { name, incarnation }: Pick<types.Worker, "name" | "incarnation">,
) => send(pathOf(queue, "workers", name) + queryOf({ incarnation }), { method: "DELETE", commands: 5 });
