import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Queue } from "../../src/index.ts";
import { EmbeddedDatabase, embedded } from "../../src/embedded/index.ts";
import { startGateway, type Gateway } from "../../src/local/index.ts";
import type { Transport } from "../../src/queue/redis/transport.ts";
import { resp } from "../../src/transport/resp.ts";
import { upstash } from "../../src/transport/upstash.ts";
import { awkwardPayloads, comparable } from "../support/payloads.ts";
import { hasClusters, startCluster, type TestCluster } from "../support/redis-cluster.ts";
import { sharedRedis, type SharedRedis } from "../support/shared-redis.ts";

let redis: SharedRedis;
let gateway: Gateway;
let tcp: ReturnType<typeof resp>;
let cluster: TestCluster | undefined;
let toCluster: ReturnType<typeof resp> | undefined;

beforeAll(async () => {
  redis = await sharedRedis();
  gateway = await startGateway({ redisUrl: redis.url });
  tcp = resp(redis.url);
  if (!hasClusters) return;
  cluster = await startCluster();
  toCluster = resp(cluster.url);
}, 60_000);
afterAll(async () => {
  await tcp.close();
  await toCluster?.close();
  await cluster?.stop();
  await gateway.close();
  await redis.stop();
});

const transports: [string, () => Transport][] = [
  ["upstash", () => upstash({ url: gateway.url, token: gateway.token })],
  ["resp", () => tcp],
];
const inProcess = embedded(new EmbeddedDatabase());

describe.each([
  ...transports,
  ["embedded", () => inProcess] as const,
  ...(hasClusters ? [["resp on a cluster", () => toCluster as Transport] as const] : []),
])("over %s every payload comes back identical (law 9)", (name, transport) => {
  test.each(awkwardPayloads)("%s", async (label, payload) => {
    const queue = new Queue(`${name.replace(/\W/g, "")}-${label.replace(/\W/g, "")}`, {
      transport: transport(),
    });
    await queue.enqueue(payload, { id: "one" });
    await queue.enqueueMany([{ payload }, { payload }]);
    const batch = await queue.dequeue({ max: 3 });
    const same = comparable(payload);
    expect(batch.map((task) => comparable(task.payload))).toStrictEqual([same, same, same]);

    // As a result and, within its limit, as an error too.
    await batch[0]?.complete(payload);
    expect(comparable((await queue.get("one"))?.result)).toStrictEqual(same);
    if (!label.startsWith("1 M")) {
      await batch[1]?.reject(payload);
      expect(comparable((await queue.get(batch[1]?.id ?? ""))?.error)).toStrictEqual(same);
    }
  });
});

describe("what one transport wrote the other reads", () => {
  test.each(awkwardPayloads)("%s", async (label, payload) => {
    const name = `mixed-${label.replace(/\W/g, "")}`;
    const [http, direct] = transports.map(([, transport]) => new Queue(name, { transport: transport() }));
    await http?.enqueue(payload);
    await direct?.enqueue(payload);
    expect(comparable((await direct?.dequeue())?.[0]?.payload)).toStrictEqual(comparable(payload));
    expect(comparable((await http?.dequeue())?.[0]?.payload)).toStrictEqual(comparable(payload));
  });
});
