import { operations } from "../../../src/http/operations/index.ts";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import {
  applyQueues,
  countQueues,
  databases,
  deepSweep,
  defineQueue,
  listQueues,
  Operator,
  Producer,
  Queue,
  queueOverviews,
  Schedules,
  sweep,
  type Transport,
} from "../../../src/index.ts";
import { createApp } from "../../../src/http/index.ts";
import { startGateway, type Gateway } from "../../../src/local/index.ts";
import { resp } from "../../../src/transports/resp.ts";
import { upstash } from "../../../src/transports/upstash.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig({ checkInvariants: false });
let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ redisUrl: rig.redis.url });
});
afterAll(() => gateway.close());

const overHttp = () =>
  upstash({
    UPSTASH_REDIS_REST_URL: gateway.url,
    UPSTASH_REDIS_REST_TOKEN: gateway.token,
    SLUICE_PREFIX: "staging",
  });
const overTcp = () => {
  const transport = resp({ REDIS_URL: rig.redis.url, SLUICE_PREFIX: "staging" });
  onTestFinished(() => transport.close());
  return transport;
};
const overBoth = () => databases([overHttp(), upstash({ url: gateway.url, token: gateway.token })]);

const reports = defineQueue("reports", {
  maxPending: 10,
  schedules: { daily: { cron: "0 9 * * *", payload: 1 } },
});

/** What a caller does who never names the prefix, and what of it says which queues there are. */
const calls: Record<string, (transport: Transport) => Promise<unknown>> = {
  "a queue": async (transport) => {
    const queue = new Queue("emails", { transport });
    await queue.enqueue(1, { id: "a" });
    const [task] = await queue.dequeue();
    await task?.complete();
    return (await queue.get("a"))?.state;
  },
  "a queue with partitions": async (transport) => {
    const queue = new Queue("spread", { transport, partitions: 3 });
    await queue.enqueueMany([1, 2, 3, 4].map((payload) => ({ payload, id: `task-${payload}` })));
    return (await queue.counts()).pending;
  },
  "a producer": (transport) => new Producer("emails", { transport }).enqueue(1, { id: "a" }),
  "a queue's own methods": (transport) => defineQueue("emails", { transport }).enqueue(1, { id: "a" }),
  "an operator": async (transport) => new Operator("emails", { transport }).pause(),
  schedules: (transport) =>
    new Schedules("emails", { transport }).put("daily", { cron: "0 9 * * *", payload: 1 }),
  "applied declarations": (transport) => applyQueues(transport, [reports]),
  "lists, counts and sweeps": async (transport) => {
    await new Queue("emails", { transport }).enqueue(1);
    const { queues } = await sweep(transport);
    return {
      queues,
      listed: (await listQueues(transport)).queues.map(({ name }) => name),
      counted: await countQueues(transport, ["emails"]),
      overview: (await queueOverviews(transport, ["emails"])).map(
        (overview) => "pending" in overview && overview.pending,
      ),
      deep: (await deepSweep(transport)).faults,
    };
  },
  "the HTTP interface": async (transport) => {
    const token = "token-of-this-test";
    const app = createApp({
      operations,
      transport,
      tokens: [{ token, scopes: ["enqueue", "consume", "admin"], queues: "*" }],
    });
    const ask = (path: string, body?: object) =>
      app.request(path, {
        method: body ? "POST" : "GET",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        ...(body && { body: JSON.stringify(body) }),
      });
    await ask("/v1/queues/emails/tasks", { payload: 1, id: "a" });
    const { queues } = (await (await ask("/v1/queues")).json()) as { queues: { name: string }[] };
    return queues.map(({ name }) => name);
  },
};

type Row = [environment: string, what: string, made: () => Transport];
test.each<Row>([
  ...Object.keys(calls).map((what): Row => ["Redis over TCP", what, overTcp]),
  ["upstash", "a queue", overHttp],
  ["several databases", "a queue", overBoth],
  ["several databases", "lists, counts and sweeps", overBoth],
])("in the environment of %s, SLUICE_PREFIX begins every key of %s", async (_, what, made) => {
  const call = calls[what]!;
  // Without the name of the database, nothing is remembered from one transport to the next.
  const transport = { ...made(), database: undefined };
  const expected = await call({ ...transport, prefix: undefined });
  const named = await keys();
  await rig.command("FLUSHALL");
  expect(scrubbed(await call(transport))).toEqual(scrubbed(expected));
  expect(await keys()).toEqual(named.map((key) => key.replace("sluice:", "staging:")));
});

test.each([overTcp, overHttp, overBoth])("an own prefix wins over that of the environment", async (made) => {
  await new Queue("emails", { transport: made(), prefix: "own" }).enqueue(1);
  expect(await keys()).toEqual(["own:queues", "own:{emails}:pending", "own:{emails}:tasks"]);
});

const keys = async () => Object.keys(await rig.keySpace()).toSorted();

/** Without what differs from call to call. */
const scrubbed = (value: unknown) =>
  JSON.parse(JSON.stringify(value).replace(/\d{13}|(?<="oldestAge":)\d+/g, "0")) as unknown;
