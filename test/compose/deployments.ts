import type { ServiceOptions } from "../../serverless/cloudflare.ts";
import { dashboard } from "../../src/dashboard/index.ts";
import {
  defineQueue,
  type Enqueued,
  type FoundTasks,
  type HealthReport,
  Operator,
  type QueueCounts,
  type TaskInfo,
} from "../../src/index.ts";
import { schedules } from "../../src/open/schedules/index.ts";
import { order } from "../../src/open/order/index.ts";
import { startGateway } from "../../src/local/index.ts";
import { QUEUE } from "../support/rig.ts";
import {
  type AddedTask,
  addTo,
  type Front,
  type Given,
  routeOf,
  type StartFront,
  eventsIn,
  storedIn,
  until,
} from "./front.ts";
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

/** The options of a deployment whose own `fetch` uses the queue, and whose consumer handles its tasks. */
export function deploymentOf(given: Given): ServiceOptions {
  const { declaration, handler, concurrency, tracing, logger } = given;
  const declared = defineQueue(QUEUE, declaration);
  return {
    tracing,
    logger,
    ...(given.dashboard && { dashboard }),
    ...(declaration.order && { order }),
    ...(declaration.schedules && { schedules }),
    consumers: [declared.consumer((task) => handler(task), { concurrency })],
    async fetch(request, { queue }) {
      const { pathname } = new URL(request.url);
      const emails = queue(declared);
      if (pathname === "/own/add")
        return Response.json(await addTo(emails, (await request.json()) as AddedTask[]));
      if (pathname === "/own/get") return Response.json(await emails.get(await request.text()));
      if (pathname === "/own/counts") return Response.json(await emails.counts());
      return undefined;
    },
  };
}

/** Uses the queue by requests to such a deployment. */
export function ownPages(
  fetch: (request: Request) => Promise<Response>,
): Pick<Front, "add" | "get" | "counts" | "findings" | "find" | "bulk"> {
  const post = async <T>(page: string, body: string): Promise<T> => {
    const response = await fetch(new Request(`${ORIGIN}/own/${page}`, { method: "POST", body }));
    if (response.status !== 200) throw new Error(`${page}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  };
  const read = async <T>(path: string): Promise<T> => {
    const headers = { authorization: `Bearer ${TOKEN}` };
    const response = await fetch(new Request(ORIGIN + path, { headers }));
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
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
  return {
    add: (tasks) => post<Enqueued[]>("add", JSON.stringify(tasks)),
    get: (id) => post<TaskInfo | null>("get", id),
    counts: () => post<QueueCounts>("counts", "-"),
    findings: async () => (await read<HealthReport>("/v1/health/queues")).findings,
    find: async (text) => (await read<FoundTasks>(`/v1/search?text=${text}`)).tasks,
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
    const { order = null } = given.declaration;
    const operator = new Operator(QUEUE, { transport, prefix: given.prefix });
    await until(async () => (await operator.settings()).order === order);
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
