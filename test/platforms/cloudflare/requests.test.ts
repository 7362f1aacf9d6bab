import { expect, it, onTestFinished } from "vitest";
import { Queue } from "../../../src/index.ts";
import { resp } from "../../../src/transports/resp.ts";
import { startWorker } from "../../../tools/workerd/harness.ts";
import { numbered } from "../../support/new-tasks.ts";
import { openMailServer, openPlace } from "../place.ts";

// workerd does not limit the requests of an invocation, as Cloudflare does. Here they are counted where they arrive.
it("an invocation in workerd sends at most 50 requests, mails included, and each mail is sent once", async () => {
  const [place, mailServer] = await Promise.all([openPlace(), openMailServer()]);
  const { gateway } = place;
  const transport = resp(place.redis.url);
  const config = "test/platforms/cloudflare/mails.toml";
  const { server, cron } = await startWorker(config, { ...place.env, MAIL_URL: mailServer.url });
  onTestFinished(async () => {
    await server.close();
    await transport.close();
    await mailServer.close();
    await place.close();
  });
  const queue = new Queue("emails", { transport });
  await queue.enqueueMany(numbered(120));
  const sent: number[] = [];
  do {
    // A minute later, no consumer counts as awake.
    await transport.send([["HDEL", "sluice:{emails}:tasks", "~wake"]]);
    gateway.resetUsage();
    const before = mailServer.mails().length;
    await cron();
    sent.push(gateway.usage().requests + mailServer.mails().length - before);
  } while ((await queue.counts()).pending > 0 && sent.length < 20);
  const ids = numbered(120).map(({ id }) => id);
  expect(mailServer.mails().map(({ to }) => to)).toEqual(ids.toSorted());
  expect(Math.max(...sent)).toBeLessThanOrEqual(50);
  expect(await queue.counts()).toMatchObject({ pending: 0, working: 0, delayed: 0, rejected: 0 });
});
