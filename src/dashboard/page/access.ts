import { matches } from "../../kernel/names/queue-pattern.ts";
import type { Grant } from "./api/types.ts";
import { store } from "./store.ts";

/** What the viewer may do. */
export const access = store<readonly Grant[]>([]);

/** Whether the application decides who may see the dashboard. Then there is no sign-in here. */
export const isOfApplication = store(false);

/** Whether the viewer has the scope for the queue. The server checks it again. */
export function may(scope: Grant["scopes"][number], queue: string): boolean {
  return access.value.some(({ scopes, queues }) => scopes.includes(scope) && matches(queues, queue));
}
