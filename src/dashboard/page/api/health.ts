/** The requests of the dashboard for what is wrong, and for sweeps. */
import { queryOf } from "./path.ts";
import { send, spend } from "./request.ts";
import type * as types from "./types.ts";

/** Commands of a report, and for each queue in it, about. */
const REPORT = 7;
const EACH = 14;

/** What is wrong with the queues that the token may see, or with one of them. */
export async function health(queue: string | undefined, signal: AbortSignal): Promise<types.Health> {
  const found: types.Health = await send(`api/v1/health/queues${queryOf({ queues: queue })}`, {
    signal,
    commands: REPORT,
  });
  spend(EACH * found.queues.length);
  return found;
}

export const sweep = (): Promise<types.Swept> =>
  send("api/v1/sweep", { method: "POST", body: {}, commands: 20 });

/** Repairs a queue, up to the budget of one call. */
export const deepSweep = (queue: string, cursor: string | undefined): Promise<types.DeepSwept> =>
  send("api/v1/sweep", {
    method: "POST",
    body: { deep: true, queue, ...(cursor !== undefined && { cursor }) },
    commands: 50,
  });
