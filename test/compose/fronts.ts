import { operations } from "../../src/http/operations/index.ts";
import { order } from "../../src/open/order/index.ts";
import { debounce } from "../../src/features/debounce/index.ts";
import { createApp } from "../../src/http/app.ts";
import { flows } from "../../src/http/flows/index.ts";
import { topics } from "../../src/http/topics/index.ts";
import { createTopicClient } from "../../src/client/topics/index.ts";
import { flowRoutes } from "../../src/http/routes/flows.ts";
import { createClient } from "../../src/client/index.ts";
import { createFlowClient } from "../../src/client/flows/index.ts";
import { type DefinedQueue, drain, type Enqueued, type Task } from "../../src/index.ts";
import type { Waker } from "../../src/features/waking/waker.ts";
import { testDeployment } from "../../src/testing/index.ts";
import { asker, secrets, tokens } from "../http/served.ts";
import { QUEUE, type Rig } from "../support/rig.ts";
import { commandLine } from "./command-line.ts";
import { deployment, deploymentOf, ownPages, SLUICE_TOKENS } from "./deployments.ts";
import {
  type AddedTask,
  addTo,
  batchOf,
  declaredOf,
  endpointsOf,
  type Given,
  handled,
  oneAtATime,
  noBulk,
  type Pulled,
  routeOf,
  type StartFront,
  eventsIn,
  storedIn,
  subscribeDeclared,
  withQueues,
} from "./front.ts";
import { library, topicsOf } from "./library.ts";
import { inFlowOverHttp, overHttp, type Send } from "./over-http.ts";
import type { FrontName } from "./table.ts";

/** A server of the HTTP interface that knows no declarations: the queues were declared to another one. */
async function server(rig: Rig, given: Given, wake: Waker["wake"]) {
  const { prefix, tracing, beside } = given;
  const all = [...declaredOf(given).values()];
  const [{ options }] = all as [DefinedQueue];
  const part = beside && { ...flows, routes: flowRoutes };
  const app = createApp({
    operations,
    order,
    debounce,
    flows: part,
    parts: [topics, ...endpointsOf(given)],
    transport: rig.transport,
    tokens,
    prefix,
    tracing,
    offload: options.offload,
    wake: { wake },
  });
  const ask = asker((request) => app.fetch(request));
  const other = createApp({ operations, order, transport: { send: rig.transport.send }, tokens, prefix });
  const askOther = asker((request) => other.fetch(request));
  for (const { name, settings, partitions, schedules } of all) {
    const named = Object.entries(schedules).map(([schedule, its]) => ({ name: schedule, ...its }));
    const declared = await askOther("PUT", `/v1/queues/${name}/declaration`, {
      json: { settings, partitions, schedules: named },
    });
    if (declared.status !== 200) throw new Error(JSON.stringify(declared.body));
  }
  const send: Send = async (method, path, json) => {
    const { status, body } = await ask(method, path, { json });
    if (status === 404 && method === "GET") return null;
    if (status >= 400) throw new Error(`${status} ${JSON.stringify(body)}`);
    return body;
  };
  await subscribeDeclared(given, overHttp(send).topics);
  return { app, ask, send, names: all.map(({ name }) => name) };
}

/** Requests to the HTTP interface, written by hand. */
const http: StartFront = async (rig, given) => {
  const consumers = new Map<string, ReturnType<typeof oneAtATime>>();
  const { ask, send, names } = await server(rig, given, (name) => void consumers.get(name)?.start());
  const path = `/v1/queues/${QUEUE}`;
  for (const name of names) {
    const at = `/v1/queues/${name}/tasks`;
    const consume = async () => {
      for (;;) {
        const pull = { max: given.concurrency };
        const { tasks } = await send<{ tasks: Pulled[] }>("POST", `${at}/pull`, pull);
        if (tasks.length === 0) return;
        const all = tasks.map((task) => ({ ...task, ...inFlowOverHttp(send, name, task) }));
        await send("POST", `${at}/settle`, { settlements: await handled(all, given.handler) });
      }
    };
    consumers.set(name, oneAtATime(consume));
  }
  return {
    ...overHttp(send),
    async add(tasks: readonly AddedTask[]) {
      const [first, ...others] = tasks;
      if (first && others.length === 0) return [await send<Enqueued>("POST", `${path}/tasks`, first)];
      return (await send<{ tasks: Enqueued[] }>("POST", `${path}/tasks`, { tasks })).tasks;
    },
    async run() {
      await send("POST", "/v1/sweep", {});
      for (const one of consumers.values()) await one.start();
    },
    get: (id) => send("GET", `${path}/tasks/${id}`),
    counts: (name = QUEUE) => send("GET", `/v1/queues/${name}`),
    findings: async () => (await ask("GET", "/v1/health/queues")).body.findings,
    find: async (text) => (await ask("GET", `/v1/search?text=${text}`)).body.tasks,
    bulk: (action, ids) => send("POST", path + routeOf(action), { ids }),
    events: () => eventsIn(rig),
    stored: () => storedIn(rig),
    stop: () => allEnded(consumers),
  };
};

/** A program with the client of the HTTP interface, whose queues are declared in both. */
const client: StartFront = async (rig, given) => {
  const { handler, concurrency, tracing } = given;
  const consumers = new Map<string, ReturnType<typeof oneAtATime>>();
  const { app, ask, send } = await server(rig, given, (name) => void consumers.get(name)?.start());
  const fetch = async (url: string, init: RequestInit) => app.fetch(new Request(url, init));
  const connection = { url: "https://sluice.test", token: secrets.all, fetch, tracing };
  const declared = declaredOf(given);
  const queueOf = (name: string) => declared.get(name) as DefinedQueue;
  const made = createClient(connection);
  const ofFlows = createFlowClient(connection);
  const ofTopics = createTopicClient({ url: connection.url, token: connection.token, fetch });
  for (const [name, one] of declared) {
    const handle = (task: Task) =>
      handler({
        ...task,
        before: () => ofFlows.before(one, task.id),
        addBefore: (ref, items) => ofFlows.addBefore(one, task, ref, withQueues(items, queueOf)),
      });
    const consume = () => drain(made.queue(one), handle, { budget: "1m", concurrency });
    consumers.set(name, oneAtATime(consume));
  }
  const queue = made.queue(queueOf(QUEUE));
  return {
    ...overHttp(send),
    add: (tasks) => addTo(queue, tasks),
    async run() {
      await send("POST", "/v1/sweep", {});
      for (const one of consumers.values()) await one.start();
    },
    get: (id) => queue.get(id),
    counts: (name = QUEUE) => made.queue(queueOf(name)).counts(),
    flows: {
      add: (items, own) => ofFlows.flow(withQueues(items, queueOf), own),
      batch: (tasks, callbacks) => ofFlows.batch(...batchOf(tasks, callbacks, queueOf)),
      get: (id) => ofFlows.get(id),
      cancel: (id) => ofFlows.cancel(id),
      redrive: (id) => ofFlows.redrive(id),
    },
    topics: topicsOf(ofTopics),
    findings: async () => (await ask("GET", "/v1/health/queues")).body.findings,
    find: async (text) => (await ask("GET", `/v1/search?text=${text}`)).body.tasks,
    bulk: noBulk,
    events: () => eventsIn(rig),
    stored: () => storedIn(rig),
    stop: () => allEnded(consumers),
  };
};

const allEnded = async (consumers: ReadonlyMap<string, ReturnType<typeof oneAtATime>>) => {
  for (const one of consumers.values()) await one.ended();
};

/** `testDeployment` of `sluice-queue/testing`, on its own database, with its own clock. */
const testDouble: StartFront = async (_, given) => {
  const app = testDeployment(deploymentOf(given), { env: { SLUICE_PREFIX: given.prefix, SLUICE_TOKENS } });
  const reply = async (...command: [string, ...string[]]) => {
    const [outcome] = await app.transport.send([command]);
    if (!outcome || !("reply" in outcome)) throw new Error(JSON.stringify(outcome));
    return outcome.reply as string[];
  };
  const held = async (key: string) => {
    // The own keys of a queue with partitions hold markers.
    return String(await reply("TYPE", key)) === "hash" ? reply("HGETALL", key) : [];
  };
  return {
    ...ownPages((request) => app.fetch(request)),
    run: () => app.advance("1s"),
    events: () => app.queue(QUEUE).events(),
    async stored() {
      const keys = await reply("KEYS", "*");
      const hashes = keys.filter((key) => key.endsWith(":tasks"));
      return { keys, text: JSON.stringify(await Promise.all(hashes.map(held))) };
    },
    stop: async () => {},
  };
};

export const fronts: Readonly<Record<FrontName, StartFront>> = {
  library,
  http,
  client,
  cloudflare: deployment("cloudflare"),
  vercel: deployment("vercel"),
  next: deployment("next"),
  lambda: deployment("lambda"),
  netlify: deployment("netlify"),
  node: deployment("node"),
  mounted: deployment("mounted"),
  deno: deployment("deno"),
  bun: deployment("bun"),
  testDouble,
  commandLine,
};
