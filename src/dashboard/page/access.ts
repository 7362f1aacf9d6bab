import { matches } from "../../kernel/names/queue-pattern.ts";
import type { Grant } from "./api/types.ts";
import { store } from "./store.ts";

/** What the token of this session may do. */
export const access = store<readonly Grant[]>([]);

/** Whether the session's token has the scope for the queue. The server checks it again. */
export function may(scope: Grant["scopes"][number], queue: string): boolean {
  return access.value.some(({ scopes, queues }) => scopes.includes(scope) && matches(queues, queue));
}
