// CPU time of the serving process for a request of the HTTP interface, and requests a second, against two
// bare Hono apps in the same runtime and run, in turns: `echo` parses the same body and answers with JSON of
// the same bytes; `library` calls Sluice's library from a handler that checks neither token nor body. So
// `sluice` less `library` is what the interface adds, and `library` less `echo` what the library and its
// client take. The load comes from this process, Redis and the gateway are others: none of them counts.

import { createClient } from "@redis/client";
import { Queue } from "../src/index.ts";
import { startGateway } from "../src/local/index.ts";
import { resp } from "../src/transports/resp.ts";
import { startRedis } from "../test/support/redis.ts";
import { ask, connections, drive, type Exchange, postOf } from "./http/load.ts";
import { canMeasureWorkerd, inWorkerd, onNode, type Server } from "./http/servers.ts";
import { median, payload, printGoal, printTable, quick, whole } from "./report.ts";

const CALLERS = 50;
const BATCH = 100;
const ROUNDS = quick ? 3 : 7;
const GOAL = 2.5;
const TOKEN = "bench-0123456789abcdef";

/** The requests, with the same bytes for all servers; only the path differs. */
interface Case {
  readonly name: string;
  /** Path below the queue, body, and status of Sluice's answer. */
  readonly path: "tasks" | "tasks/pull";
  readonly body: unknown;
  readonly status: number;
  /** Requests of a round. */
  readonly requests: number;
  /** Tasks that a request takes out of the queue. */
  readonly takes: number;
}

const tasks = Array.from({ length: BATCH }, (_, number) => ({ payload: payload(number) }));
const often = quick ? 300 : 2_000;
const seldom = quick ? 15 : 60;
const pullOf = (max: number, requests: number): Case => {
  return { name: `pull of ${max}`, path: "tasks/pull", body: { max }, status: 200, requests, takes: max };
};
const cases: readonly Case[] = [
  { name: "enqueue of 1", path: "tasks", body: tasks[0], status: 201, requests: often, takes: 0 },
  { name: `enqueue of ${BATCH}`, path: "tasks", body: { tasks }, status: 201, requests: seldom, takes: 0 },
  pullOf(1, often),
  pullOf(BATCH, seldom),
];

const redis = await startRedis();
const control = await createClient({ url: redis.url }).connect();
const transport = resp(redis.url);
const queue = new Queue("bench", { transport });

/** Empties the queue, then enqueues that many tasks. */
async function fill(many: number): Promise<void> {
  await control.flushAll();
  for (let left = many; left > 0; left -= 1_000) {
    const some = Array.from({ length: Math.min(left, 1_000) }, (_, number) => ({ payload: payload(number) }));
    await queue.enqueueMany(some);
  }
}

/** How the cases are asked of the servers of one kind. */
const kinds = {
  echo: ({ name, body }: Case): Exchange => ({
    request: postOf(`/echo/${encodeURIComponent(name)}`, TOKEN, body),
    status: 200,
  }),
  bare: ({ path, body }: Case): Exchange => ({ request: postOf(`/bare/${path}`, TOKEN, body), status: 200 }),
  sluice: ({ path, body, status }: Case): Exchange => ({
    request: postOf(`/v1/queues/bench/${path}`, TOKEN, body),
    status,
  }),
};
type Kind = keyof typeof kinds;
type Servers = Readonly<Record<Kind, Server>>;

/** Of one request: CPU time of the server, and its share of the time, both in microseconds. */
interface Cost {
  readonly cpu: number;
  readonly time: number;
}

async function cost(kind: Kind, server: Server, what: Case, requests: number): Promise<Cost> {
  if (kind !== "echo") await fill(what.takes * requests);
  const open = await connections(server.port, CALLERS);
  const before = await server.cpu();
  const start = performance.now();
  await drive(open, kinds[kind](what), requests);
  const time = ((performance.now() - start) * 1_000) / requests;
  const cpu = ((await server.cpu()) - before) / requests;
  for (const socket of open) socket.destroy();
  return { cpu, time };
}

async function rounds(servers: Servers, what: Case) {
  const round = async (requests: number) => ({
    echo: await cost("echo", servers.echo, what, requests),
    bare: await cost("bare", servers.bare, what, requests),
    sluice: await cost("sluice", servers.sluice, what, requests),
  });
  await round(what.requests);
  const all = [];
  for (let i = 0; i < ROUNDS; i++) all.push(await round(what.requests));
  return all;
}

async function race(runtime: string, servers: Servers): Promise<void> {
  const rows: string[][] = [];
  const goals: (() => void)[] = [];
  for (const what of cases) {
    const all = await rounds(servers, what);
    const middle = (of: (round: (typeof all)[number]) => number) => median(all.map(of));
    const ratio = middle(({ echo, sluice }) => sluice.cpu / echo.cpu);
    rows.push([
      what.name,
      middle(({ echo }) => echo.cpu).toFixed(0),
      middle(({ bare }) => bare.cpu).toFixed(0),
      middle(({ sluice }) => sluice.cpu).toFixed(0),
      `${ratio.toFixed(2)}×`,
      `${middle(({ bare, sluice }) => sluice.cpu / bare.cpu).toFixed(2)}×`,
      ...(["echo", "bare", "sluice"] as const).map((kind) => whole(1e6 / middle((of) => of[kind].time))),
    ]);
    goals.push(() =>
      printGoal(
        `${runtime}, ${what.name}, CPU against an echo`,
        `${ratio.toFixed(2)}×`,
        `≤ ${GOAL}×`,
        ratio <= GOAL,
      ),
    );
  }
  console.log(`${runtime}\n`);
  const head = ["", "echo CPU µs", "library CPU µs", "Sluice CPU µs", "Sluice/echo", "Sluice/library"];
  printTable([...head, "echo /s", "library /s", "Sluice /s"], rows);
  console.log("");
  if (runtime === "Node") goals[0]?.();
}

/** The servers of one runtime. The echo answers with what Sluice answered. */
async function servers(
  start: (kind: Kind, answers: Record<string, unknown>) => Promise<Server>,
): Promise<Servers> {
  const sluice = await start("sluice", {});
  const answers: Record<string, unknown> = {};
  for (const what of cases) {
    await fill(what.takes);
    answers[what.name] = await ask(sluice.port, kinds.sluice(what));
  }
  return { sluice, echo: await start("echo", answers), bare: await start("bare", {}) };
}

async function stop(all: Servers): Promise<void> {
  for (const server of Object.values(all)) await server.stop();
}

const tokens = JSON.stringify([{ token: TOKEN, scopes: ["enqueue", "consume"], queues: "*" }]);
console.log(
  `${CALLERS} connections, 200-byte payloads, CPU time of the server for a request, medians of ${ROUNDS} rounds\n`,
);

const nodes = await servers((kind, answers) => onNode(kind, { redisUrl: redis.url, tokens, answers }));
await race("Node", nodes);
await stop(nodes);

if (canMeasureWorkerd) {
  const gateway = await startGateway({ redisUrl: redis.url });
  const { url, token } = gateway;
  const database = { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token };
  const workers = await servers((kind, answers) =>
    inWorkerd(kind, { ...database, SLUICE_TOKENS: tokens, ANSWERS: JSON.stringify(answers) }),
  );
  await race("workerd", workers);
  await stop(workers);
  await gateway.close();
}

await transport.close();
control.destroy();
await redis.stop();
