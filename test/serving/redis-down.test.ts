import { expect, it, onTestFinished } from "vitest";
import { startDeployment } from "../../serverless/node.ts";
import { defineQueue, Queue } from "../../src/index.ts";
import { startGateway } from "../../src/local/index.ts";
import { resp } from "../../src/transports/resp.ts";
import { startRedis } from "../support/redis.ts";

// What an application's enqueue does while Redis is down: it goes on until the deadline of the transport, or its signal.

const overTcp = async (url: string) => ({ env: { REDIS_URL: url }, end: async () => {} });
const overHttp = async (redisUrl: string) => {
  const gateway = await startGateway({ redisUrl });
  const env = { UPSTASH_REDIS_REST_URL: gateway.url, UPSTASH_REDIS_REST_TOKEN: gateway.token };
  return { env, end: () => gateway.close() };
};

it.each([
  ["TCP, which refuses connections", overTcp, "SIGKILL"],
  ["TCP, which does not answer", overTcp, "SIGSTOP"],
  ["HTTP, which does not answer", overHttp, "SIGSTOP"],
] as const)(
  "an enqueue to a Redis over %s ends with its signal, and others go on",
  async (_, connect, signal) => {
    const redis = await startRedis();
    const { env, end } = await connect(redis.url);
    const mails = defineQueue<string>("mails");
    const deployment = await startDeployment({ env, queues: [mails], every: "1d", logger: "silent" });
    onTestFinished(async () => {
      redis.signal("SIGCONT");
      await deployment.close();
      await end();
      await redis.stop();
    });
    await mails.enqueue("before");
    if (signal === "SIGKILL") await redis.kill();
    else redis.signal(signal);

    const [one, all] = [new AbortController(), new AbortController()];
    const first = mails.enqueue("one", { signal: one.signal });
    const second = mails.enqueue("two", { id: "two", signal: all.signal });
    const third = mails.enqueue("three", { id: "three" });
    one.abort();
    await expect(first).rejects.toMatchObject({ code: "aborted" });
    all.abort();
    await expect(second).rejects.toMatchObject({ code: "aborted" });

    if (signal === "SIGKILL") await redis.restart();
    else redis.signal("SIGCONT");
    expect(await third).toEqual({ id: "three", created: true });
    const transport = resp(redis.url);
    onTestFinished(() => transport.close());
    expect(await new Queue("mails", { transport }).get("three")).toMatchObject({ state: "pending" });
  },
);
