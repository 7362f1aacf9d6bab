/** Reads what has become of the tasks that a task waits for. */
import { flowOf, nodeId, type Predecessor } from "../../kernel/linked/flow-names.ts";
import { readShardName } from "../../kernel/names/keys.ts";
import type { SendOptions } from "../../kernel/transport.ts";
import { readTaskInfo } from "../../kernel/record/read-record.ts";
import { groupedBy, slicesOf } from "../../kernel/slices.ts";
import { openTask } from "../../kernel/values/open-task.ts";
import type { FlowQueue } from "./flow-tasks.ts";
import { readBeforeScript } from "./before-script.ts";
import type { Before } from "./types.ts";

/** What a read needs of a queue. */
export type ReadQueue = Pick<FlowQueue, "store" | "values">;

/** Nodes, and bytes of their records, that one call reads. */
const MOST_NODES = 2_000;
const MOST_BYTES = 4_000_000;

/** A node as the script found it. */
type Found = ReturnType<typeof readBeforeScript.decode>["nodes"][number];

/** What became of a task, and which it is. */
export interface EachBefore extends Before {
  readonly ref: string;
  readonly id: string;
  readonly queue: string;
}

/**
 * Reads what has become of the tasks and inner flows that a task waited for, as {@link readEachBefore} does.
 * @returns by their refs; empty for a task that waited for none
 */
export async function readBefore(
  ...args: Parameters<typeof readEachBefore>
): Promise<Readonly<Record<string, Before>>> {
  const each = await readEachBefore(...args);
  return Object.fromEntries(each.map(({ ref, id: _, queue: __, ...one }) => [ref, one]));
}

/**
 * Reads what has become of the tasks and inner flows that a task waited for. One request for each of their queues, and one more for each 2,000 tasks.
 * @param id of the task
 * @param own its queue
 * @param queueOf the other queues, by their names
 * @throws {SluiceError} `undecryptable`, or a fault of a transport
 */
export async function readEachBefore(
  id: string,
  own: ReadQueue,
  queueOf: (name: string) => ReadQueue,
  options: SendOptions = {},
): Promise<EachBefore[]> {
  const { name } = own.store.queue;
  const args = { id, queue: name, bytes: String(MOST_BYTES) };
  const { waitsFor, nodes, left } = await own.store.find(
    id,
    (shard) => shard.call(readBeforeScript, args),
    (reply) => reply.waitsFor === "",
    options,
  );
  if (waitsFor === "") return [];
  const flow = flowOf(id);
  const predecessors = (JSON.parse(waitsFor) as Predecessor[]).map(([ref, number, shard]) => {
    return { ref, id: nodeId(flow, number), queue: readShardName(shard).queue };
  });
  const found = new Map<string, Before>();
  const byQueue = groupedBy(predecessors, ({ queue }) => queue);
  await Promise.all(
    Array.from(byQueue, async ([queue, its]) => {
      const from = queue === name ? own : queueOf(queue);
      const ids = its.map((one) => one.id);
      const read = queue === name ? nodes : [];
      const rest = queue === name ? ids.slice(ids.length - left) : ids;
      for (const node of [...read, ...(await readNodes(from, rest, options))]) {
        found.set(node.id, await opened(from, node));
      }
    }),
  );
  return predecessors.map((one) => ({ ...one, ...(found.get(one.id) ?? { state: null }) }));
}

/** Reads nodes of one queue. They are all in one partition. */
async function readNodes(
  { store }: ReadQueue,
  ids: readonly string[],
  options: SendOptions,
): Promise<readonly Found[]> {
  const found: Found[] = [];
  for (const slice of slicesOf(ids, MOST_NODES)) {
    for (let rest = slice; rest.length > 0;) {
      const items = rest.map((id) => ({ id }));
      const args = { id: "", queue: "", bytes: String(MOST_BYTES) };
      const reply = await store.find(
        rest[0] as string,
        (shard) => shard.call(readBeforeScript, args, items),
        ({ nodes }) => nodes.every(({ state }) => state === ""),
        options,
      );
      found.push(...reply.nodes);
      rest = rest.slice(rest.length - reply.left);
    }
  }
  return found;
}

async function opened({ store, values }: ReadQueue, { id, state, changing }: Found): Promise<Before> {
  if (state === "") return { state: null };
  const record = { state, at: 0, fixed: "", payload: "", changing };
  const info = readTaskInfo(store.queue.name, id, record);
  const { result, error, reason } = await openTask(values, info, id);
  if (state === "completed") return { state, ...(result !== undefined && { result }) };
  return { state, ...(error !== undefined && { error }), reason };
}
