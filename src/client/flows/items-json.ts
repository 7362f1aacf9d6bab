/** The items of a flow as they are sent. */
import { invalidArgument } from "../../errors.ts";
import {
  type BatchCallbacks,
  type BatchTask,
  type FlowItem,
  type FlowTask,
  MAX_FLOW_TASKS,
  planFlow,
} from "../../features/flows/index.ts";
import { checkedEncryption, encrypted } from "../../features/encryption/index.ts";
import { checkedSchema } from "../../kernel/enqueue/checked-schema.ts";
import { encodeChecked } from "../../kernel/enqueue/schema.ts";
import { nodeId } from "../../kernel/linked/flow-names.ts";
import { derivedName } from "../../kernel/names/derived-ids.ts";
import { newTaskId } from "../../kernel/names/ids.ts";
import { listOf, optionsObject, queueName, requestKey } from "../../kernel/options/validation.ts";
import { losslessJson } from "../../kernel/record/codec.ts";
import { headerTexts } from "../../kernel/record/headers.ts";
import { plainValues, type Values } from "../../kernel/values/values.ts";
import { type DefinedOptions, nameAndOptions, type QueueOrName } from "../../open/definition.ts";
import { given } from "../../pick.ts";
import { withFields } from "../fields.ts";
import { MAX_PAYLOAD } from "../new-task.ts";
import { valueFields } from "../values.ts";

/** A queue by its name, or a declared one. */
// Any payload: a queue that takes one type is not one that takes another.
// oxlint-disable-next-line typescript/no-explicit-any
export type NamedQueue = QueueOrName<any, any>;

interface KnownQueue {
  readonly name: string;
  readonly options: DefinedOptions<unknown, unknown>;
  readonly values: Values;
}

/** @throws {SluiceError} `invalid_argument` */
export function knownQueue(queue: NamedQueue): KnownQueue {
  const { name, options } = nameAndOptions<DefinedOptions<unknown, unknown>>(queue, {});
  checkedSchema(options.schema);
  const values = encrypted(plainValues(MAX_PAYLOAD), queueName(name), checkedEncryption(options.encryption));
  return { name, options, values };
}

/** What a call adds: its name is that of the flow. */
interface Call {
  readonly id?: string | undefined;
  readonly idempotencyKey?: string | undefined;
}

/**
 * The JSON of the items, and the name of their flow if the client must choose it: an encrypted payload is bound to the id
 * of its task, which has that name in it.
 * @param sealed @default queues may have encryption
 * @throws {SluiceError} `invalid_argument`, `too_large`
 */
export async function itemsJson(
  items: readonly FlowItem<NamedQueue>[],
  { id, idempotencyKey }: Call,
  sealed?: "refuse",
) {
  const { nodes } = planFlow(items);
  const queues = new Map<NamedQueue, KnownQueue>();
  for (const { task } of nodes) {
    if (task && !queues.has(task.queue)) queues.set(task.queue, knownQueue(task.queue));
  }
  const [known] = [...queues.values()];
  const areSealed = [...queues.values()].some(({ values }) => values.areSealed);
  if (areSealed && sealed) throw notSealed("tasks");
  const key = requestKey({ idempotencyKey });
  let name = id;
  if (areSealed && known && id === undefined) {
    name = key === undefined ? newTaskId() : await derivedName("flow", known.name, key);
  }
  const flow = `${name}@${known?.name}`;
  const numbers = new Map(nodes.map(({ task }, node) => [task, node]));
  const jsonOf = (item: FlowItem<NamedQueue>, path: string): Promise<string> => {
    if ("flow" in item) return innerJson(item, path);
    const number = numbers.get(item) as number;
    return taskJson(item, queues.get(item.queue) as KnownQueue, nodeId(flow, number), path);
  };
  const listJson = async (list: readonly FlowItem<NamedQueue>[], path: string): Promise<string> => {
    const all = await Promise.all(list.map((item, i) => jsonOf(item, `${path}[${i}]`)));
    return `[${all.join()}]`;
  };
  const innerJson = async (
    { flow: list, ...own }: Extract<FlowItem<NamedQueue>, { flow: unknown }>,
    path: string,
  ) => withFields({ flow: await listJson(list, `${path}.flow`) }, losslessJson(own, path, true));
  return { name, tasks: await listJson(items, "tasks") };
}

/** Only the server knows the ids of these tasks, to which an encrypted payload is bound. */
const notSealed = (path: string) =>
  invalidArgument(path, "must not be of a queue with encryption: use flow, or sluice-queue/flows");

/**
 * The fields of a batch, as JSON.
 * @throws {SluiceError} `invalid_argument`, `too_large`
 */
export async function batchJson(
  tasks: readonly BatchTask<NamedQueue>[],
  callbacks: BatchCallbacks<NamedQueue>,
): Promise<Readonly<Record<string, string>>> {
  listOf(tasks, "tasks", MAX_FLOW_TASKS);
  const jsonOf = (task: Omit<BatchTask<NamedQueue>, "ref">, path: string) => {
    optionsObject(task, `${path}.`);
    const queue = knownQueue(task.queue);
    if (queue.values.areSealed) throw notSealed(`${path}.queue`);
    return taskJson(task, queue, "", path);
  };
  const all = await Promise.all(tasks.map((task, i) => jsonOf(task, `tasks[${i}]`)));
  const others = Object.entries(callbacks).flatMap(([name, task]) =>
    task === undefined ? [] : [jsonOf(task, name).then((json) => [name, json] as const)],
  );
  return { tasks: `[${all.join()}]`, ...Object.fromEntries(await Promise.all(others)) };
}

/** The JSON of a task, with the defaults of its queue. */
async function taskJson(
  { queue: _, payload, headers, ...own }: Omit<FlowTask<NamedQueue>, "ref" | "after">,
  { name, options, values }: KnownQueue,
  id: string,
  path: string,
): Promise<string> {
  const { lease, maxAttempts, resultTtl, deadTtl, delay } = options;
  const fields = {
    ...given({ lease, maxAttempts, resultTtl, deadTtl, delay }),
    ...given(own),
    ...(headers !== undefined && { headers: headerTexts(headers, `${path}.headers`) }),
    queue: name,
  };
  const at = `${path}.payload`;
  const encoded = await encodeChecked(options.schema, payload, at, values.maxPayload);
  const text = await values.seal({ kind: "payload", id }, encoded, at);
  return withFields(valueFields("payload", text), losslessJson(fields, path, true));
}
