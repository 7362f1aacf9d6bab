/** The request of the dashboard for causes of dead letters. */
import { pathOf, queryOf } from "./path.ts";
import { send, spend } from "./request.ts";
import type * as types from "./types.ts";

/** Dead letters that cost a command, about. */
const EACH = 50;

/** Dead letters by cause and by group: of the newest 5,000. */
export async function deadLetters(
  queue: string,
  filter: types.Filter,
  signal: AbortSignal,
): Promise<types.DeadLetters> {
  const path = pathOf(queue, "dead-letters") + queryOf({ ...filter });
  const found: types.DeadLetters = await send(path, { signal, commands: 6 });
  spend(Math.floor(found.counted / EACH));
  return found;
}
