import type { ServiceOptions } from "../../serverless/cloudflare.ts";
import { dashboard } from "../../src/dashboard/index.ts";
import type { DeploymentTools } from "../../src/deploy/declared/tools.ts";
import {
  type AddedFlow,
  batch,
  flow,
  type FlowCalls,
  type FlowOptions,
  flows,
} from "../../src/http/flows/index.ts";
import {
  type Enqueued,
  type FoundTasks,
  type HealthReport,
  Operator,
  type QueueCounts,
  type Task,
  type TaskInfo,
} from "../../src/index.ts";
import type { EventOfEndpoints } from "../../src/http/endpoints/index.ts";
import { topics } from "../../src/http/topics/index.ts";
import { schedules } from "../../src/open/schedules/index.ts";
import { order } from "../../src/open/order/index.ts";
import { startGateway } from "../../src/local/index.ts";
import { QUEUE } from "../support/rig.ts";
import {
  type AddedTask,
  addTo,
  batchOf,
  declaredOf,
  endpointsOf,
  type FlowsFront,
  type Front,
  type Given,
  type NamedItems,
  routeOf,
  type StartFront,
  type TopicsFront,
  eventsIn,
  storedIn,
  until,
  withItsFlow,
  withNoFlow,
  withQueues,
} from "./front.ts";
import { overHttp, type Send } from "./over-http.ts";
import { platforms } from "./platforms.ts";

const ORIGIN = "https://deployment.test";

/** A token that may see all. */
const TOKEN = "view-0123456789abcdef";
/** A token of an operator. */
const OPERATOR = "operator-0123456789abcdef";
export const SLUICE_TOKENS = JSON.stringify([
  { token: TOKEN, scopes: ["view"], queues: "*" },
  { token: OPERATOR, scopes: ["enqueue", "admin"], queues: "*" },
]);

/** The options of a deployment whose own `fetch` uses the queues, and whose consumers handle their tasks. */
export function deploymentOf(given: Given): ServiceOptions {
  const { handler, concurrency, tracing, logger, beside } = given;
  const declared = declaredOf(given);
  const [endpoints] = endpointsOf(given);
  const all = [...declared.values()];
  const handlerOf = (task: Task & FlowCalls, { queue }: Pick<DeploymentTools, "queue">) =>
    handler(beside ? withItsFlow(task, (name) => queue(declared.get(name)!)) : withNoFlow(task));
  return {
    tracing,
    logger,
    ...(given.dashboard && { dashboard }),
    ...(beside && { flows, topics }),
    ...(endpoints && { endpoints }),
    ...(all.some(({ settings }) => settings.order) && { order }),
    ...(all.some((one) => Object.keys(one.schedules).length > 0) && { schedules }),
    consumers: all.map((one) =>
      one.consumer((task, _, tools: Pick<DeploymentTools, "queue">) => handlerOf(task, tools), {
        concurrency,
      }),
    ),
    async fetch(request, tools) {
      const { queue, topic } = tools;
      const { pathname } = new URL(request.url);
      const queueOf = (name: string) => queue(declared.get(name)!);
      const emails = queueOf(QUEUE);
      const json = async <T>() => (await request.json()) as T;
      if (pathname === "/own/add") return Response.json(await addTo(emails, await json<AddedTask[]>()));
      if (pathname === "/own/get") return Response.json(await emails.get(await request.text()));
      if (pathname === "/own/counts") return Response.json(await queueOf(await request.text()).counts());
      if (pathname === "/own/flow") {
        const { items, own } = await json<{ items: NamedItems; own: FlowOptions }>();
        return added(flow(withQueues(items, queueOf), own));
      }
      if (pathname === "/own/batch") {
        const [tasks, callbacks] = await json<Parameters<FlowsFront["batch"]>>();
        return added(batch(...batchOf(tasks, callbacks, queueOf)));
      }
      if (pathname === "/own/publish") {
        const [name, payload, own] = await json<Parameters<TopicsFront["publish"]>>();
        return Response.json(await topic(name).publish(payload, own));
      }
      if (pathname === "/own/send" && endpoints)
        return Response.json(await endpoints.in(tools).send(await json<EventOfEndpoints>()));
      return undefined;
    },
  };
}

/** The reply of a page that adds a flow, and says what is wrong with it. */
const added = (call: Promise<AddedFlow>): Promise<Response> =>
  call.then(
    (flow) => Response.json(flow),
    (error: Error) => new Response(error.message, { status: 400 }),
  );

/** Uses the queue by requests to such a deployment. */
export function ownPages(
  fetch: (request: Request) => Promise<Response>,
): Pick<Front, "add" | "get" | "counts" | "findings" | "find" | "bulk" | keyof ReturnType<typeof overHttp>> {
  const post = async <T>(page: string, body: string): Promise<T> => {
    const response = await fetch(new Request(`${ORIGIN}/own/${page}`, { method: "POST", body }));
    if (response.status !== 200) throw new Error(`${page}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  };
  const send: Send = async <T>(method: string, path: string, json?: object): Promise<T> => {
    const headers = {
      authorization: `Bearer ${method === "GET" ? TOKEN : OPERATOR}`,
      ...(json && { "content-type": "application/json" }),
    };
    const init = { method, headers, ...(json && { body: JSON.stringify(json) }) };
    const response = await fetch(new Request(ORIGIN + path, init));
    if (response.status >= 400) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  };
  /** As the page of the dashboard calls it. */
  const visit = async (
    path: string,
    json: object,
    headers: Record<string, string> = {},
  ): Promise<Response> => {
    const own = { origin: ORIGIN, "content-type": "application/json", "sec-fetch-site": "same-origin" };
    const init = { method: "POST", headers: { ...own, ...headers }, body: JSON.stringify(json) };
    const response = await fetch(new Request(`${ORIGIN}/dashboard${path}`, init));
    if (response.status >= 400) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response;
  };
  const operated = overHttp(send);
  return {
    ...operated,
    flows: {
      ...operated.flows,
      add: (items, own) => post("flow", JSON.stringify({ items, own })),
      batch: (...given) => post("batch", JSON.stringify(given)),
    },
    endpoints: { ...operated.endpoints, send: (event) => post("send", JSON.stringify(event)) },
    topics: { ...operated.topics, publish: (...own) => post("publish", JSON.stringify(own)) },
    add: (tasks) => post<Enqueued[]>("add", JSON.stringify(tasks)),
    get: (id) => post<TaskInfo | null>("get", id),
    counts: (queue = QUEUE) => post<QueueCounts>("counts", queue),
    findings: async () => (await send<HealthReport>("GET", "/v1/health/queues")).findings,
    find: async (text) => (await send<FoundTasks>("GET", `/v1/search?text=${text}`)).tasks,
    async bulk(action, ids) {
      const signedIn = await visit("/session", { token: OPERATOR });
      const [cookie = ""] = (signedIn.headers.get("set-cookie") ?? "").split(";");
      return (await visit(`/api/v1/queues/${QUEUE}${routeOf(action)}`, { ids }, { cookie })).json();
    },
  };
}

/** A deployment on a platform. */
export const deployment =
  (platform: keyof typeof platforms): StartFront =>
  async (rig, given) => {
    // Another address each time, because a process remembers by it what it has written.
    const gateway = await startGateway({ redisUrl: rig.redis.url });
    const { fetch, cron, stop } = await platforms[platform](deploymentOf(given), {
      UPSTASH_REDIS_REST_URL: gateway.url,
      UPSTASH_REDIS_REST_TOKEN: gateway.token,
      SLUICE_TOKENS,
      CRON_SECRET: "the-secret-of-the-cron-of-tests",
      ...(given.prefix !== undefined && { SLUICE_PREFIX: given.prefix }),
    });
    // Applies what is declared. A server has begun to do so at its start.
    await cron();
    const { transport } = rig;
    for (const [name, { settings }] of declaredOf(given)) {
      const operator = new Operator(name, { transport, prefix: given.prefix });
      await until(async () => (await operator.settings()).order === (settings.order ?? null));
    }
    return {
      ...ownPages(fetch),
      run: cron,
      events: () => eventsIn(rig),
      stored: () => storedIn(rig),
      async stop() {
        await stop();
        await gateway.close();
      },
    };
  };
