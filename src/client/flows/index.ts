/** Flows over HTTP. */
import type { AddedFlow, FlowItem, FlowOptions } from "../../features/flows/index.ts";
import { onlyOptions, REQUEST_OPTIONS } from "../../kernel/options/validation.ts";
import { Connection, type ConnectionOptions } from "../connection.ts";
import { withFields } from "../fields.ts";
import { fieldsJson, splitOptions } from "../json.ts";
import { itemsJson, type NamedQueue } from "./items-json.ts";

export type { AddedFlow, FlowItem, FlowOptions } from "../../features/flows/index.ts";
export type { ConnectionOptions as ClientOptions } from "../connection.ts";
export type { NamedQueue } from "./items-json.ts";

export interface FlowClient {
  /**
   * Adds tasks that wait for each other, as `flow` of `sluice-queue/flows` does. The token needs the scope `enqueue` for
   * each of their queues, and the server needs its part `flows`.
   * @param items tasks and inner flows, in any order. The queue of a task is its name, or one that `defineQueue` made:
   *   then with its defaults, schema and encryption
   * @param options.id the name of the flow. @default a new one
   * @returns the ids of the flow and of its tasks
   * @throws {SluiceError}
   */
  flow(items: readonly FlowItem<NamedQueue>[], options?: FlowOptions): Promise<AddedFlow>;
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
  return {
    async flow(items, call = {}) {
      onlyOptions(call, OPTIONS);
      const { request, fields } = splitOptions(call);
      const { name, tasks } = await itemsJson(items, call);
      const body = withFields({ tasks }, await fieldsJson({ ...fields, id: name }));
      const add = { method: "POST", path: "/v1/flows", body, replyField: "tasks", options: request } as const;
      return connection.request<AddedFlow>(add);
    },
  };
}
