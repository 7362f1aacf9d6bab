/** The items of a flow as they are sent. */
import {
  addedRoot,
  type BatchCallbacks,
  type BatchTask,
  type FlowItem,
  type FlowPlan,
  type FlowTask,
  MAX_FLOW_TASKS,
  planBatch,
  planFlow,
} from "../../features/flows/index.ts";
import { encodeChecked } from "../../kernel/enqueue/schema.ts";
import { flowOf, nodeId } from "../../kernel/linked/flow-names.ts";
import { derivedName } from "../../kernel/names/derived-ids.ts";
import { newTaskId } from "../../kernel/names/ids.ts";
import { listOf, optionsObject, requestKey } from "../../kernel/options/validation.ts";
import type { EnqueueOptions } from "../../kernel/options/types.ts";
import { losslessJson } from "../../kernel/record/codec.ts";
import { headerTexts } from "../../kernel/record/headers.ts";
import { given } from "../../pick.ts";
import { withFields } from "../fields.ts";
import { valueFields } from "../values.ts";
import { type KnownQueue, knownQueue, type NamedQueue } from "./known-queue.ts";

/** What a call adds: its name is that of the flow. */
interface Call {
  readonly id?: string | undefined;
  readonly idempotencyKey?: string | undefined;
}

/** Tasks to be sent: the numbers of their nodes, by their paths, and their queues. */
class Tasks {
  readonly #numbers: ReadonlyMap<string, number>;
  readonly #tasks: readonly EnqueueOptions[];
  readonly #queues = new Map<NamedQueue, KnownQueue>();

  /** @throws {SluiceError} `invalid_argument` */
  constructor({ nodes }: FlowPlan<NamedQueue>) {
    this.#numbers = new Map(nodes.map(({ path }, node) => [path, node]));
    this.#tasks = nodes.flatMap(({ task }) => task ?? []);
    for (const { task } of nodes) {
      if (task && !this.#queues.has(task.queue)) this.#queues.set(task.queue, knownQueue(task.queue));
    }
  }

  get areSealed(): boolean {
    return [...this.#queues.values()].some(({ values }) => values.areSealed);
  }

  /**
   * The name of their flow if the client must choose it: an encrypted payload is bound to the id of its task, which has
   * that name in it.
   */
  async flowName({ id, idempotencyKey }: Call): Promise<string | undefined> {
    const key = requestKey({ idempotencyKey });
    if (id !== undefined || !this.areSealed) return id;
    return key === undefined ? newTaskId() : derivedName("flow", this.#home, key);
  }

  /** The id of their flow. @param name undefined if the server chooses it: then no payload is bound to it */
  flow(name: string | undefined): string {
    return `${name}@${this.#home}`;
  }

  get #home(): string {
    const [first] = this.#queues.values();
    return first?.name ?? "";
  }

  /** What a trace says of them. */
  get about() {
    return { queue: this.#home, tasks: this.#tasks, overHttp: true };
  }

  /** The JSON of a task. @param root what the numbers of its flow begin with */
  json(task: Parameters<typeof taskJson>[0], path: string, flow: string, root = ""): Promise<string> {
    const queue = this.#queues.get(task.queue) ?? knownQueue(task.queue);
    return taskJson(task, queue, nodeId(flow, root + String(this.#numbers.get(path))), path);
  }
}

/**
 * The JSON of the items of a flow, and its name if the client must choose it.
 * @throws {SluiceError} `invalid_argument`, `too_large`
 */
export async function flowJson(items: readonly FlowItem<NamedQueue>[], call: Call) {
  const tasks = new Tasks(planFlow(items));
  const name = await tasks.flowName(call);
  return { name, tasks: await listJson(items, tasks, tasks.flow(name)), about: tasks.about };
}

/**
 * The JSON of items that a task adds in front of another one.
 * @param id of the task that adds them
 * @param ref of what waits for it
 * @throws {SluiceError} `invalid_argument`, `too_large`
 */
export async function addedJson(
  items: readonly FlowItem<NamedQueue>[],
  { id, ref }: { readonly id: string; readonly ref: string },
) {
  const plan = planFlow(items);
  const root = await addedRoot(id, ref, plan);
  const tasks = new Tasks(plan);
  return { tasks: await listJson(items, tasks, flowOf(id), root), about: tasks.about };
}

async function listJson(
  items: readonly FlowItem<NamedQueue>[],
  tasks: Tasks,
  flow: string,
  root?: string,
): Promise<string> {
  const jsonOf = async (item: FlowItem<NamedQueue>, path: string): Promise<string> => {
    if (!("flow" in item)) return tasks.json(item, path, flow, root);
    const { flow: list, ...own } = item;
    return withFields({ flow: await allJson(list, `${path}.flow`) }, losslessJson(own, path, true));
  };
  const allJson = async (list: readonly FlowItem<NamedQueue>[], path: string): Promise<string> => {
    const all = await Promise.all(list.map((item, i) => jsonOf(item, `${path}[${i}]`)));
    return `[${all.join()}]`;
  };
  return allJson(items, "tasks");
}

/**
 * The fields of a batch, as JSON, and its name if the client must choose it.
 * @throws {SluiceError} `invalid_argument`, `too_large`
 */
export async function batchJson(
  tasks: readonly BatchTask<NamedQueue>[],
  callbacks: BatchCallbacks<NamedQueue>,
  call: Call,
) {
  listOf(tasks, "tasks", MAX_FLOW_TASKS);
  for (const [i, task] of tasks.entries()) optionsObject(task, `tasks[${i}].`);
  const known = new Tasks(planBatch(tasks, callbacks));
  const name = await known.flowName(call);
  const flow = known.flow(name);
  const all = await Promise.all(tasks.map((task, i) => known.json(task, `tasks[${i}]`, flow)));
  const others = Object.entries(callbacks).flatMap(([path, task]) =>
    task === undefined ? [] : [known.json(task, path, flow).then((json) => [path, json] as const)],
  );
  const fields = { tasks: `[${all.join()}]`, ...Object.fromEntries(await Promise.all(others)) };
  return { name, fields: fields as Readonly<Record<string, string>>, about: known.about };
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
