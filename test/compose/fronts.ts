import { operations } from "../../src/http/operations/index.ts";
import { order } from "../../src/open/order/index.ts";
import { debounce } from "../../src/features/debounce/index.ts";
import { createClient } from "../../src/client/index.ts";
import { linked } from "../../src/features/linked/index.ts";
import { createApp } from "../../src/http/app.ts";
import {
  applyQueues,
  defineQueue,
  drain,
  type Enqueued,
  findTasks,
  Operator,
  Queue,
  queueHealth,
  sweep,
} from "../../src/index.ts";
import type { Waker } from "../../src/features/waking/waker.ts";
import { testDeployment } from "../../src/testing/index.ts";
import { asker, secrets, tokens } from "../http/served.ts";
import { QUEUE, type Rig } from "../support/rig.ts";
import { commandLine } from "./command-line.ts";
import { deployment, deploymentOf, ownPages, SLUICE_TOKENS } from "./deployments.ts";
import {
  type AddedTask,
  addTo,
  type Given,
  handled,
  oneAtATime,
  noBulk,
  type Pulled,
  routeOf,
  type StartFront,
  eventsIn,
  storedIn,
} from "./front.ts";
import type { FrontName } from "./table.ts";

/** A program that makes its own queue, and drains and sweeps it. */
const library: StartFront = async (rig, { declaration, handler, concurrency, prefix, tracing }) => {
  const transport = declaration.order ? linked(rig.transport) : rig.transport;
  const declared = defineQueue(QUEUE, declaration);
  const { failed } = await applyQueues(transport, [declared], { prefix });
  if (failed.length > 0) throw new Error(JSON.stringify(failed));
  const consumer = oneAtATime(() => drain(queue, handler, { budget: "1m", concurrency }));
  const wake = { wake: () => void consumer.start() };
  const queue = new Queue(declared, { transport, prefix, tracing, wake });
  const operator = new Operator(declared, { transport, prefix, wake });
  return {
    add: (tasks) => addTo(queue, tasks),
    async run() {
      await sweep(transport, { prefix });
      await consumer.start();
    },
    get: (id) => queue.get(id),
    counts: () => queue.counts(),
    findings: async () => (await queueHealth(transport, { prefix })).findings,
    find: async (text) => (await findTasks(transport, { text, prefix })).tasks,
    async bulk(action, ids) {
      if (action === "cancel") return operator.cancelMany(ids);
      return action === "delete" ? operator.removeMany(ids) : operator.redrive({ ids });
    },
    events: () => eventsIn(rig),
    stored: () => storedIn(rig),
    stop: consumer.ended,
  };
};

/** A server of the HTTP interface that knows no declarations: the queue was declared to another one. */
async function server(rig: Rig, { declaration, prefix, tracing }: Given, wake: Waker["wake"]) {
  const { settings, schedules, partitions, options } = defineQueue(QUEUE, declaration);
  const { offload } = options;
  const app = createApp({
    operations,
    order,
    debounce,
    transport: rig.transport,
    tokens,
    prefix,
    tracing,
    offload,
    wake: { wake },
  });
  const ask = asker((request) => app.fetch(request));
  const other = createApp({ operations, order, transport: { send: rig.transport.send }, tokens, prefix });
  const path = `/v1/queues/${QUEUE}`;
  const json = {
    settings,
    partitions,
    schedules: Object.entries(schedules).map(([name, schedule]) => ({ name, ...schedule })),
  };
  const declared = await asker((request) => other.fetch(request))("PUT", `${path}/declaration`, { json });
  if (declared.status !== 200) throw new Error(JSON.stringify(declared.body));
  return { app, ask, path };
}

/** Requests to the HTTP interface, written by hand. */
const http: StartFront = async (rig, given) => {
  const consumer = oneAtATime(async () => {
    for (;;) {
      const { tasks } = await send<{ tasks: Pulled[] }>("POST", "/tasks/pull", { max: given.concurrency });
      if (tasks.length === 0) return;
      await send("POST", "/tasks/settle", { settlements: await handled(tasks, given.handler) });
    }
  });
  const { ask, path } = await server(rig, given, () => void consumer.start());
  const send = async <T>(method: string, rest: string, json?: unknown): Promise<T> => {
    const { status, body } = await ask(method, path + rest, { json });
    if (status >= 400) throw new Error(`${status} ${JSON.stringify(body)}`);
    return body as T;
  };
  return {
    async add(tasks: readonly AddedTask[]) {
      const [first, ...others] = tasks;
      if (first && others.length === 0) return [await send<Enqueued>("POST", "/tasks", first)];
      return (await send<{ tasks: Enqueued[] }>("POST", "/tasks", { tasks })).tasks;
    },
    async run() {
      await ask("POST", "/v1/sweep", { json: {} });
      await consumer.start();
    },
    async get(id) {
      const { status, body } = await ask("GET", `${path}/tasks/${id}`);
      return status === 404 ? null : body;
    },
    counts: () => send("GET", ""),
    findings: async () => (await ask("GET", "/v1/health/queues")).body.findings,
    find: async (text) => (await ask("GET", `/v1/search?text=${text}`)).body.tasks,
    bulk: (action, ids) => send("POST", routeOf(action), { ids }),
    events: () => eventsIn(rig),
    stored: () => storedIn(rig),
    stop: consumer.ended,
  };
};

/** A program with the client of the HTTP interface, whose queue is declared in both. */
const client: StartFront = async (rig, given) => {
  const { declaration, handler, concurrency, tracing } = given;
  const consumer = oneAtATime(() => drain(queue, handler, { budget: "1m", concurrency }));
  const { app, ask } = await server(rig, given, () => void consumer.start());
  const fetch = async (url: string, init: RequestInit) => app.fetch(new Request(url, init));
  const queue = createClient({ url: "https://sluice.test", token: secrets.all, fetch, tracing }).queue(
    defineQueue(QUEUE, declaration),
  );
  return {
    add: (tasks) => addTo(queue, tasks),
    async run() {
      await ask("POST", "/v1/sweep", { json: {} });
      await consumer.start();
    },
    get: (id) => queue.get(id),
    counts: () => queue.counts(),
    findings: async () => (await ask("GET", "/v1/health/queues")).body.findings,
    find: async (text) => (await ask("GET", `/v1/search?text=${text}`)).body.tasks,
    bulk: noBulk,
    events: () => eventsIn(rig),
    stored: () => storedIn(rig),
    stop: consumer.ended,
  };
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
