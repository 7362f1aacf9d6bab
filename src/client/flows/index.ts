/** Flows over HTTP. */
import {
  type AddedBefore,
  type AddedFlow,
  type BatchCallbacks,
  type BatchTask,
  type Before,
  type FlowCancelled,
  type FlowItem,
  type FlowOptions,
  type FlowRedriven,
  type FlowReport,
  aroundAdd,
} from "../../features/flows/index.ts";
import { onlyOptions, REQUEST_OPTIONS, taskId } from "../../kernel/options/validation.ts";
import { readReceipt } from "../../kernel/names/receipt.ts";
import type { RequestOptions } from "../../kernel/options/types.ts";
import { Connection, type ConnectionOptions, type ServerRequest } from "../connection.ts";
import { withFields } from "../fields.ts";
import { fieldsJson, splitOptions } from "../json.ts";
import { openedBefore, valuesByQueue, type BeforeReply } from "./before.ts";
import { addedJson, batchJson, flowJson } from "./items-json.ts";
import { knownQueue, type NamedQueue } from "./known-queue.ts";

export type {
  AddedBefore,
  AddedFlow,
  BatchCallbacks,
  BatchTask,
  Before,
  FlowCancelled,
  FlowItem,
  FlowNodeReport,
  FlowOptions,
  FlowRedriven,
  FlowReport,
  FlowState,
} from "../../features/flows/index.ts";
export type { ConnectionOptions as FlowClientOptions } from "../connection.ts";
export type { NamedQueue } from "./known-queue.ts";

/** Flows over HTTP, as `sluice-queue/flows` has them. The server needs its part `flows`. */
export interface FlowClient {
  /**
   * Adds tasks that wait for each other. The token needs the scope `enqueue` for each of their queues.
   * @param items tasks and inner flows, in any order. The queue of a task is its name, or one that `defineQueue` made:
   *   then with its defaults, schema and encryption
   * @param options.id the name of the flow. @default a new one
   * @returns the ids of the flow and of its tasks
   * @throws {SluiceError}
   */
  flow(items: readonly FlowItem<NamedQueue>[], options?: FlowOptions): Promise<AddedFlow>;
  /**
   * Adds tasks with callbacks, as `batch` does.
   * @throws {SluiceError}
   */
  batch(
    tasks: readonly BatchTask<NamedQueue>[],
    options?: BatchCallbacks<NamedQueue> & FlowOptions,
  ): Promise<AddedFlow>;
  /**
   * Reads what has become of a flow; null if it is not known. The token needs `enqueue` or `view` for its queues.
   * @throws {SluiceError}
   */
  get(id: string, options?: RequestOptions): Promise<FlowReport | null>;
  /**
   * Cancels all tasks that have not ended. The token needs `enqueue` for the queues of the flow.
   * @throws {SluiceError}
   */
  cancel(id: string, options?: RequestOptions): Promise<FlowCancelled>;
  /**
   * Redrives all tasks that failed. The token needs `admin` for the queues of the flow.
   * @throws {SluiceError}
   */
  redrive(id: string, options?: RequestOptions): Promise<FlowRedriven>;
  /**
   * Reads what a task waited for, by ref.
   * @param options.queues other queues that it waited for tasks of, if they have another encryption. @default that of its own
   * @throws {SluiceError} also `undecryptable`
   */
  before(
    queue: NamedQueue,
    id: string,
    options?: RequestOptions & { readonly queues?: readonly NamedQueue[] | undefined },
  ): Promise<Readonly<Record<string, Before>>>;
  /**
   * Adds tasks in front of one that waits for a working task.
   * @param task of a dequeue of the client
   * @param ref of what waits for the task
   * @throws {SluiceError}
   */
  addBefore(
    queue: NamedQueue,
    task: { readonly receipt: string },
    ref: string,
    items: readonly FlowItem<NamedQueue>[],
    options?: RequestOptions,
  ): Promise<AddedBefore>;
}

const OPTIONS = ["id", "onFailure", ...REQUEST_OPTIONS];

/**
 * Makes a client of flows. It is beside `createClient`, whose programs do not pay for it.
 * @param options as those of `createClient`
 * @throws {SluiceError} `invalid_argument` if the URL or the token is missing or invalid
 * @example
 * const flows = createFlowClient({ url: env.SLUICE_URL, token: env.SLUICE_TOKEN });
 * await flows.flow([
 *   { ref: "fetch", queue: "imports", payload: { day } },
 *   { ref: "mail", queue: "emails", payload: { to }, after: "fetch" },
 * ]);
 */
export function createFlowClient(options: ConnectionOptions): FlowClient {
  const connection = new Connection(options);
  const post = <Reply extends object, Refusal extends string = never>(
    path: string,
    request: RequestOptions,
    call: Pick<ServerRequest, "body" | "replyField" | "addHeaders">,
    refusals?: readonly Refusal[],
  ) => connection.request<Reply, Refusal>({ ...call, method: "POST", path, options: request }, refusals);
  const pathOf = (id: string) => `/v1/flows/${encodeURIComponent(id)}`;
  const beforePath = (queue: NamedQueue, id: string) =>
    `/v1/queues/${knownQueue(queue).name}/tasks/${encodeURIComponent(taskId(id))}/before`;
  const read = (path: string, request: RequestOptions, replyField: string) => {
    onlyOptions(request, REQUEST_OPTIONS);
    return { method: "GET", path, replyField, options: request } as const;
  };
  const change = async <Reply extends object>(
    id: string,
    what: string,
    field: string,
    own: RequestOptions,
  ) => {
    onlyOptions(own, REQUEST_OPTIONS);
    const call = { body: "{}", replyField: field };
    const done = await post<Reply, "not_found">(`${pathOf(id)}/${what}`, own, call, ["not_found"]);
    return typeof done === "string" ? ({ ok: false, code: "not_found" } as const) : (done as Reply);
  };

  const { hooks } = connection;
  const add = (call: Parameters<typeof aroundAdd>[1], request: RequestOptions, body: string) =>
    aroundAdd(hooks, call, (addHeaders) =>
      post<AddedFlow>("/v1/flows", request, { body, replyField: "tasks", addHeaders }),
    );

  return {
    async flow(items, call = {}) {
      onlyOptions(call, OPTIONS);
      const { request, fields } = splitOptions(call);
      const json = await flowJson(items, call);
      const body = withFields({ tasks: json.tasks }, await fieldsJson({ ...fields, id: json.name }));
      return add(json.about, request, body);
    },

    async batch(tasks, { completed, failed, ended, ...call } = {}) {
      onlyOptions(call, OPTIONS);
      const { request, fields } = splitOptions(call);
      const json = await batchJson(tasks, { completed, failed, ended }, call);
      const body = withFields(json.fields, await fieldsJson({ ...fields, id: json.name }));
      return add(json.about, request, body);
    },

    async get(id, request = {}) {
      const call = read(pathOf(id), request, "nodes");
      const found = await connection.request<FlowReport, "not_found">(call, ["not_found"]);
      return found === "not_found" ? null : found;
    },

    async cancel(id, own = {}) {
      type Reply = { readonly cancelled: number; readonly flagged: number };
      const done = await change<Reply>(id, "cancel", "cancelled", own);
      return "ok" in done ? done : { ok: true, cancelled: done.cancelled, flagged: done.flagged };
    },

    async redrive(id, own = {}) {
      const done = await change<{ readonly redriven: number }>(id, "redrive", "redriven", own);
      return "ok" in done ? done : { ok: true, redriven: done.redriven };
    },

    async before(queue, id, { queues = [], ...request } = {}) {
      type Reply = { readonly tasks: Readonly<Record<string, BeforeReply>> };
      const valuesOf = valuesByQueue(queue, queues);
      const { tasks } = await connection.request<Reply>(read(beforePath(queue, id), request, "tasks"));
      const opened = Object.entries(tasks).map(
        async ([ref, one]) => [ref, await openedBefore(valuesOf(one.queue), one)] as const,
      );
      return Object.fromEntries(await Promise.all(opened));
    },

    async addBefore(queue, { receipt }, ref, items, own = {}) {
      onlyOptions(own, REQUEST_OPTIONS);
      const { id } = readReceipt(receipt, "receipt");
      const json = await addedJson(items, { id, ref });
      const body = withFields({ tasks: json.tasks }, await fieldsJson({ receipt, ref }));
      const path = beforePath(queue, id);
      type Reply = Omit<Extract<AddedBefore, { ok: true }>, "ok">;
      return aroundAdd<AddedBefore>(hooks, json.about, async (addHeaders) => {
        const call = { body, replyField: "tasks", addHeaders };
        const added = await post<Reply, "lease_lost" | "not_blocked">(path, own, call, [
          "lease_lost",
          "not_blocked",
        ]);
        return typeof added === "string" ? { ok: false, code: added } : { ok: true, ...added };
      });
    },
  };
}
