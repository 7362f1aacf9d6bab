import { invalidArgument } from "../../errors.ts";
import { onlyOptions, REQUEST_OPTIONS } from "../../kernel/options/validation.ts";
import { addFlow, type AddedFlow, type FlowOptions } from "./add-flow.ts";
import { flowQueue, type PayloadOf, type QueueOfFlow } from "./flow-queue.ts";
import type { FlowItem } from "./graph/flow-items.ts";

/** Items whose payloads have the types of their queues. */
type Checked<Items extends readonly unknown[]> = {
  readonly [I in keyof Items]: Items[I] & CheckedItem<Items[I]>;
};

type CheckedItem<Item> = Item extends { readonly queue: infer Q }
  ? { readonly payload: PayloadOf<Q> }
  : Item extends { readonly flow: infer Inner extends readonly unknown[] }
    ? { readonly flow: Checked<Inner> }
    : unknown;

/** The refs of the tasks of a list: those of an inner flow are behind its own, such as `audit/rows`. */
type RefsOf<Items extends readonly unknown[]> = number extends Items["length"]
  ? string
  : { readonly [I in keyof Items]: RefsOfItem<Items[I]> }[number];

type RefsOfItem<Item> = Item extends { readonly ref: infer Ref extends string }
  ? Item extends { readonly flow: infer Inner extends readonly unknown[] }
    ? `${Ref}/${RefsOf<Inner>}`
    : Ref
  : never;

type Items = readonly FlowItem<QueueOfFlow>[];

const OPTIONS = ["id", "onFailure", ...REQUEST_OPTIONS];

/**
 * Adds tasks that wait for each other, in any order, as one flow. It exists when its record is written, by one script in
 * its home: the queue of its first task. What the caller then leaves, a sweep adds. A call with the `id` of an earlier
 * flow adds nothing, so it can be repeated.
 * @param items tasks, and inner flows `{ ref, flow: […] }`, each with the refs that it comes `after`
 * @returns the ids of the flow and of its tasks
 * @throws {SluiceError} `invalid_argument`, such as for a cycle; `too_large`, or a fault of the transport; `queue_full` if the
 *   queue of the first task is full: other queues take the tasks of a flow beyond their `maxPending`
 * @example
 * await flow(
 *   { ref: "fetch", queue: imports, payload: { url } },
 *   { ref: "mail", queue: emails, payload: { to }, after: "fetch" },
 * );
 */
export function flow<const Own extends Items>(...items: Checked<Own>): Promise<AddedFlow<RefsOf<Own>>>;
/** @param options.id the name of the flow: `^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`. @default a new one */
export function flow<const Own extends Items>(
  items: Checked<Own>,
  options?: FlowOptions,
): Promise<AddedFlow<RefsOf<Own>>>;
export async function flow(...given: readonly unknown[]): Promise<AddedFlow> {
  const [first, options = {}, ...more] = given;
  if (!Array.isArray(first)) return addFlow(given as Items, flowQueue, {});
  if (more.length > 0) throw invalidArgument("options", "must be the last argument");
  onlyOptions(options, OPTIONS);
  return addFlow(first as Items, flowQueue, options as FlowOptions);
}
