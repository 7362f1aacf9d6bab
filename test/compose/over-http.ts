// What fronts do by requests to the HTTP interface.

import type { FlowReport } from "../../src/features/flows/index.ts";
import type { Front, InFlow, Pulled } from "./front.ts";
import { QUEUE } from "../support/rig.ts";

/** Sends one request. @throws if it is refused; null for a GET that finds nothing */
export type Send = <T>(method: "GET" | "POST" | "PATCH" | "PUT", path: string, json?: object) => Promise<T>;

const pathOf = (id: string) => `/v1/flows/${encodeURIComponent(id)}`;

/** Operates queues and flows. */
export const overHttp = (
  send: Send,
): Pick<Front, "blocked" | "pause" | "flows" | "topics" | "endpoints"> => ({
  async blocked(queue) {
    const path = `/v1/queues/${queue}/tasks?state=blocked`;
    return (await send<{ tasks: { id: string }[] }>("GET", path)).tasks.map(({ id }) => id);
  },
  pause: (length, group) =>
    group === undefined
      ? send("POST", `/v1/queues/${QUEUE}/pause`, { for: length })
      : send("PATCH", `/v1/queues/${QUEUE}/groups/${group}`, { paused: { for: length } }),
  flows: {
    add: (tasks, options) => send("POST", "/v1/flows", { tasks, ...options }),
    batch: (tasks, callbacks) => send("POST", "/v1/flows", { tasks, ...callbacks }),
    get: (id) => send<FlowReport | null>("GET", pathOf(id)),
    cancel: (id) => send("POST", `${pathOf(id)}/cancel`, {}),
    redrive: (id) => send("POST", `${pathOf(id)}/redrive`, {}),
  },
  topics: {
    publish: (topic, payload, own) => send("POST", `/v1/topics/${topic}/publish`, { payload, ...own }),
    preview: (topic, headers) => send("POST", `/v1/topics/${topic}/preview`, { headers }),
    subscribe: (queue, topic, own = { filter: [] }) =>
      send("PUT", `/v1/topics/${encodeURIComponent(topic)}/subscriptions/${queue}`, own),
  },
  endpoints: {
    add: (endpoint) => send("POST", "/v1/endpoints", endpoint),
    send: (event) => send("POST", "/v1/endpoints/send", event),
  },
});

/** What a program without the library asks of the flow of a task that it has pulled. */
export function inFlowOverHttp(
  send: Send,
  queue: string,
  { id, receipt }: Omit<Pulled, keyof InFlow>,
): InFlow {
  const path = `/v1/queues/${queue}/tasks/${encodeURIComponent(id)}/before`;
  return {
    before: async () => (await send<{ tasks: Awaited<ReturnType<InFlow["before"]>> }>("GET", path)).tasks,
    addBefore: (ref, tasks) => send("POST", path, { receipt, ref, tasks }),
  };
}
