import { tokenOfKey } from "../../kernel/enqueue/idempotency.ts";
import { derivedName } from "../../kernel/names/derived-ids.ts";
import { newToken } from "../../kernel/names/ids.ts";
import type { NewTask } from "../../kernel/options/types.ts";
import type { FlowPlan } from "./graph/flow-plan.ts";

/** The tasks of a flow in one queue. */
export interface Content {
  readonly queue: string;
  readonly tasks: readonly NewTask<unknown>[];
  /** Their payloads as they are stored. */
  readonly sealed: readonly string[];
  /** What errors put before the names of a task's options. */
  readonly at: (place: number) => string;
}

/**
 * The token of a call that adds a flow. With an idempotency key it is `<key>.<tasks>`, as that of an enqueue: it
 * distinguishes a copy of the call from one with other tasks.
 * @param key of the call. @default each call has a token of its own
 */
export async function tokenOfFlow(
  home: string,
  key: string | undefined,
  { nodes, edges }: FlowPlan<unknown>,
  contents: readonly Content[],
): Promise<string> {
  if (key === undefined) return newToken();
  const graph = [nodes.map(({ ref }) => ref), ...Object.values(edges).map((numbers) => Array.from(numbers))];
  const ofQueues = contents.map(({ queue, tasks, sealed, at }) => tokenOfKey(queue, key, tasks, sealed, at));
  const parts = [
    derivedName("flow", home, key),
    derivedName("tasks", JSON.stringify([graph, await Promise.all(ofQueues)])),
  ];
  return (await Promise.all(parts)).map((part) => part.slice(0, 11)).join(".");
}
