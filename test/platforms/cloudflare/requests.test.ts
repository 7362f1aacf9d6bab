import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createClient } from "@redis/client";
import { expect, it } from "vitest";
import { Queue } from "../../../src/index.ts";
import { startGateway } from "../../../src/local/index.ts";
import { resp } from "../../../src/transport/resp.ts";
import { numbered } from "../../support/new-tasks.ts";
import { startRedis } from "../../support/redis.ts";
import { startWorker } from "../../../tools/workerd/harness.ts";

// workerd does not limit the requests of an invocation, as Cloudflare does. Here they are counted where they arrive.
it("an invocation in workerd sends at most 50 requests, mails included, and each mail is sent once", async () => {
  const redis = await startRedis();
  const gateway = await startGateway({ redisUrl: redis.url });
  const mails: string[] = [];
  const mailService = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      mails.push(body);
      response.end();
    });
  });
  mailService.listen(0, "127.0.0.1");
  await once(mailService, "listening");
  const { port } = mailService.address() as AddressInfo;
  const direct = createClient({ url: redis.url, RESP: 2 });
  await direct.connect();
  const transport = resp(redis.url);
  const queue = new Queue("emails", { transport });
  const { server, cron } = await startWorker("test/platforms/cloudflare/mails.toml", {
    UPSTASH_REDIS_REST_URL: gateway.url,
    UPSTASH_REDIS_REST_TOKEN: gateway.token,
    MAIL_URL: `http://127.0.0.1:${port}/`,
  });
  try {
    await queue.enqueueMany(numbered(120));
    const sent: number[] = [];
    do {
      // A minute later, no consumer counts as awake.
      await direct.sendCommand(["HDEL", "sluice:{emails}:tasks", "~wake"]);
      gateway.resetUsage();
      const before = mails.length;
      await cron();
      sent.push(gateway.usage().requests + mails.length - before);
    } while ((await queue.counts()).pending > 0 && sent.length < 20);
    expect(mails.toSorted()).toEqual(
      numbered(120)
        .map(({ id }) => id)
        .toSorted(),
    );
    expect(Math.max(...sent)).toBeLessThanOrEqual(50);
    expect(await queue.counts()).toMatchObject({ pending: 0, working: 0, delayed: 0, rejected: 0 });
  } finally {
    await server.close();
    await transport.close();
    direct.destroy();
    mailService.close();
    await gateway.close();
    await redis.stop();
  }
});
