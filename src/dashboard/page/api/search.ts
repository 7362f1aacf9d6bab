/** The request of the dashboard for tasks of all queues. */
import { queryOf } from "./path.ts";
import { send, spend } from "./request.ts";
import type * as types from "./types.ts";

/** Tasks that one page shows at most. */
const SIZE = 50;

/** Commands for each queue that is looked at, about. */
const EACH = 17;

export interface SearchQuery {
  /** Part of an id, a payload, an error or a result. */
  readonly text: string;
  /** A name of a queue, or a pattern such as `emails-*`. */
  readonly queues?: string | undefined;
  readonly state?: string | undefined;
  readonly cursor?: string | undefined;
}

export async function search(query: SearchQuery, signal: AbortSignal): Promise<types.Found> {
  const found: types.Found = await send(`api/v1/search${queryOf({ ...query, size: SIZE })}`, { signal });
  spend(3 + EACH * found.looked.queues);
  return found;
}
