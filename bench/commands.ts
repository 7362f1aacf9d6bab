// What Sluice costs on Upstash: billed commands and HTTP requests, as the local gateway counts them, inner
// calls of scripts included. The counts are exact: test/proofs/budget asserts them, docs/costs.md shows them.

import { createClient } from "@redis/client";
import { overHttp } from "../src/deploy/deployment.ts";
import { Service } from "../src/deploy/service.ts";
import { drain, type LeasedTask, Queue, sweep } from "../src/index.ts";
import { dollars, startGateway } from "../src/local/index.ts";
import { upstash } from "../src/transports/upstash.ts";
import { startRedis } from "../test/support/redis.ts";
import { payload, printGoal, printTable } from "./report.ts";

const redis = await startRedis();
const control = await createClient({ url: redis.url }).connect();
const gateway = await startGateway({ redisUrl: redis.url });
const transport = upstash({ url: gateway.url, token: gateway.token });
const queue = new Queue("bench", { transport });

interface Cost {
  readonly commands: number;
  readonly requests: number;
}

async function cost(run: () => Promise<unknown>): Promise<Cost> {
  gateway.resetUsage();
  await run();
  const { commands, requests } = gateway.usage();
  return { commands, requests };
}

const commandsOf = async (run: () => Promise<unknown>) => (await cost(run)).commands;

/** A whole cycle of that many tasks, in three requests; each task keeps a result. */
async function cycle(size: number): Promise<void> {
  await queue.enqueueMany(Array.from({ length: size }, (_, i) => ({ payload: payload(i) })));
  const tasks = await queue.dequeue({ max: size });
  await queue.settle(tasks.map(({ receipt }) => ({ receipt, outcome: "complete", result: { ok: true } })));
}

async function lease(): Promise<LeasedTask> {
  await queue.enqueue(payload(0));
  const [task] = await queue.dequeue();
  if (!task) throw new Error("the task that was just enqueued is not there");
  return task;
}

/** A deployment that handles one request, which enqueues a task; up to the end of its consumer. */
async function deployed(queue: string): Promise<void> {
  const service = new Service<object>(
    { UPSTASH_REDIS_REST_URL: gateway.url, UPSTASH_REDIS_REST_TOKEN: gateway.token },
    {
      logger: "silent",
      consumers: { [queue]: () => {} },
      fetch: async (_, tools) => Response.json(await tools.queue(queue).enqueue(payload(0))),
    },
    { transport: overHttp, budget: "5s", afterResponse: "bounded" },
  );
  const after: Promise<unknown>[] = [];
  await service.fetch(new Request("http://bench.test/"), (work) => void after.push(work));
  await Promise.all(after);
}

/** A hundred tasks, enqueued one at a time by a producer that wakes, and worked on in tens. */
async function inTens(): Promise<void> {
  const producer = new Queue("tens", { transport, wake: { wake: () => {}, window: "1h" } });
  for (let i = 0; i < 100; i++) await producer.enqueue(payload(i));
  await drain(new Queue("tens", { transport }), () => {}, { batch: 10, concurrency: 10 });
}

/** Every operation once on a lone task, in the order of the table. */
async function operations(): Promise<(readonly [name: string, commands: number])[]> {
  const costs: [string, number][] = [];
  const note = async (name: string, run: () => Promise<unknown>) => costs.push([name, await commandsOf(run)]);
  let task: LeasedTask | undefined;
  await note("enqueue", () => queue.enqueue(payload(0)));
  await note("dequeue", async () => ([task] = await queue.dequeue()));
  await note("complete", async () => task?.complete({ ok: true }));
  const [a, b, c] = [await lease(), await lease(), await lease()];
  await note("extend", () => a.extend());
  await note("requeue", () => b.requeue({ delay: "1m" }));
  await note("reject", () => c.reject("no"));
  await note("get", () => queue.get(b.id));
  await note("cancel", () => queue.cancel(b.id));
  await a.complete();
  return costs;
}

// Loads the scripts and notes the queue in the registry, as in an instance that has run for a minute.
await operations();
await cycle(2);
await sweep(transport);

const per = (count: number, size: number) => String(Math.round((count / size) * 1_000) / 1_000);
const cycles: string[][] = [];
const goals: (() => void)[] = [];
for (const [name, size, mostCommands, mostRequests] of [
  ["one at a time", 1, 14, 3],
  ["in batches of 10", 10, undefined, undefined],
  ["in batches of 100", 100, 0.2, 0.03],
] as const) {
  const { commands, requests } = await cost(() => cycle(size));
  cycles.push([name, per(requests, size), per(commands, size), dollars((commands / size) * 1e6).toFixed(2)]);
  if (mostCommands === undefined) continue;
  goals.push(
    () =>
      printGoal(
        `commands ${name}`,
        per(commands, size),
        `≤ ${mostCommands}`,
        commands / size <= mostCommands,
      ),
    () =>
      printGoal(
        `requests ${name}`,
        per(requests, size),
        `≤ ${mostRequests}`,
        requests / size <= mostRequests,
      ),
  );
}
console.log("Enqueue, dequeue, complete with a result that is kept\n");
printTable(["", "requests a task", "billed commands a task", "$ a million tasks"], cycles);

console.log("\nOne operation on one task\n");
printTable(
  ["", "billed commands", "$ a million"],
  (await operations()).map(([name, commands]) => [
    name,
    String(commands),
    dollars(commands * 1e6).toFixed(2),
  ]),
);

const poll = await commandsOf(() => queue.dequeue({ max: 10 }));
const list = await commandsOf(() => sweep(transport, { queues: () => false }));
const aSweep = (await commandsOf(() => sweep(transport))) - list;
// An empty queue whose last registration is eleven minutes old.
await control.flushAll();
await control.zAdd("sluice:queues", { score: Date.now() - 11 * 60_000, value: "bench" });
const asleep = (await commandsOf(() => sweep(transport))) - list;

const perMonth = (commands: number, everySeconds: number) => {
  const times = (30 * 86_400) / everySeconds;
  return [String(commands), dollars(commands * times).toFixed(2)];
};
console.log("\nCalls that find nothing to do\n");
printTable(
  ["", "billed commands", "$ a month"],
  [
    ["a poll of an empty queue, every 10 seconds", ...perMonth(poll, 10)],
    ["a sweep, every minute: the list of queues", ...perMonth(list, 60)],
    ["and for each queue", ...perMonth(aSweep, 60)],
    ["the same for each queue that has been empty for ten minutes", ...perMonth(asleep, 60)],
  ],
);
goals.push(
  () => printGoal("idle poll", String(poll), "≤ 5", poll <= 5),
  () => printGoal("idle sweep, per queue", String(aSweep), "≤ 5", aSweep <= 5),
  () => printGoal("idle sweep, per empty queue", String(asleep), "≤ 1", asleep <= 1),
);
// Loads the scripts.
await deployed("other");
await inTens();
const first = await cost(() => deployed("deployed"));
const further = await cost(() => deployed("deployed"));
const tens = (await commandsOf(inTens)) / 100;
const uses: readonly (readonly [name: string, commands: number, requests: number, most: number])[] = [
  ["alone in a deployment", further.commands, further.requests, 13],
  ["the same, first of its instance in a minute", first.commands, first.requests, 15],
  ["enqueued one at a time with waking, worked on in tens", tens, Number.NaN, 5],
];
for (const [name, commands, , most] of uses)
  goals.push(() => printGoal(`commands, ${name}`, String(commands), `≤ ${most}`, commands <= most));
goals.push(() =>
  printGoal("requests, alone in a deployment", String(further.requests), "≤ 2", further.requests <= 2),
);

console.log("\nFrom the request of a task to the end of its consumer\n");
printTable(
  ["", "requests a task", "billed commands a task", "$ a million tasks"],
  uses.map(([name, commands, requests]) => [
    name,
    Number.isNaN(requests) ? "" : String(requests),
    String(commands),
    dollars(commands * 1e6).toFixed(2),
  ]),
);

console.log();
for (const print of goals) print();

await gateway.close();
control.destroy();
await redis.stop();
