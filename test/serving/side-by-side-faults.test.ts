import { createClient } from "@redis/client";
import { expect, onTestFinished, test, vi } from "vitest";
import { Queue } from "../../src/index.ts";
import { wakeSecret } from "../platforms/place.ts";
import { startCluster } from "../support/redis-cluster.ts";
import { enqueue, enqueues, gate, useServers } from "./servers.ts";

const { redis, command, listeners, start, state } = useServers();

test("what a server hands back when it closes starts elsewhere at once", async () => {
  const { begun, open, handler } = gate();
  const first = await start({
    consumers: { work: { concurrency: 1, batch: 3, handler: handler("a") } },
    fetch: enqueues,
  });
  await listeners(1);
  await enqueue(first, 3);
  await expect.poll(() => begun).toEqual(["a"]);
  await start({ consumers: { work: { concurrency: 5, handler: handler("b") } } });
  await listeners(2);
  const closed = first.close();
  await expect.poll(() => begun).toEqual(["a", "b", "b"]);
  open();
  await closed;
  await expect.poll(state).toEqual({ pending: 0, working: 0, completed: 3 });
});

test("without pub/sub, a server that closes hands its tasks over by URL", async () => {
  const { begun, open, handler } = gate();
  const settings = { SLUICE_WAKE_SECRET: wakeSecret, SLUICE_WAKE_PUBSUB: "off" };
  const second = await start({ consumers: { work: { concurrency: 5, handler: handler("b") } } }, settings);
  const env = { ...settings, SLUICE_WAKE_URL: `${second.url}/wake` };
  let end = () => {};
  const first = await start(
    {
      consumers: {
        work: {
          concurrency: 1,
          batch: 3,
          handler: () => {
            begun.push("a");
            return new Promise<void>((resolve) => (end = resolve));
          },
        },
      },
      fetch: enqueues,
    },
    env,
  );
  await enqueue(first, 4);
  // It has taken three of them, of which two wait.
  await expect.poll(() => begun).toEqual(["a"]);
  // A wake is not sent again within 100 ms.
  await new Promise((resolve) => setTimeout(resolve, 150));
  const closed = first.close();
  end();
  await closed;
  await expect.poll(() => begun.toSorted()).toEqual(["a", "b", "b", "b"]);
  open();
  await expect.poll(state).toEqual({ pending: 0, working: 0, completed: 4 });
});

test("a subscription that was cut is opened again, and what was missed meanwhile is found", async () => {
  const { begun, open, handler } = gate();
  await start({ consumers: { work: handler("b") } });
  await listeners(1);
  await command("CLIENT", "KILL", "TYPE", "pubsub");
  await listeners(0);
  await new Queue("work", { transport: redis.transport }).enqueue(1);
  await expect.poll(() => begun, { timeout: 10_000 }).toEqual(["b"]);
  open();
});

test("in a cluster every server hears, whichever node it listens to", async () => {
  const cluster = await startCluster();
  onTestFinished(() => cluster.stop());
  const env = { REDIS_URL: cluster.url };
  const { begun, open, handler } = gate();
  const consumers = (name: string) => ({ work: { concurrency: 1, handler: handler(name) } });
  const first = await start({ consumers: consumers("a"), fetch: enqueues }, env);
  for (const name of ["b", "c"]) await start({ consumers: consumers(name) }, env);
  const listening = async () => {
    const counts = cluster.members.map(async ({ port }) => {
      const client = createClient({ url: `redis://127.0.0.1:${port}` });
      await client.connect();
      const reply = await client.sendCommand(["PUBSUB", "NUMSUB", "sluice:wakes"]);
      client.destroy();
      return (reply as unknown as [string, number])[1];
    });
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  };
  await expect.poll(listening).toBe(3);
  await enqueue(first, 3);
  await expect.poll(() => begun.toSorted()).toEqual(["a", "b", "c"]);
  open();
});

test("a Redis user without channels costs one line, and tasks start as without wakes", async () => {
  await command("ACL", "SETUSER", "silent", "on", ">secret", "~*", "resetchannels", "+@all");
  const env = { REDIS_URL: redis.url.replace("://", "://silent:secret@") };
  const warned = vi.spyOn(console, "warn").mockImplementation(() => {});
  const { begun, open, handler } = gate();
  const server = await start({ consumers: { work: handler("a") }, fetch: enqueues }, env);
  await enqueue(server);
  await expect.poll(() => begun).toEqual(["a"]);
  await expect
    .poll(() => warned.mock.calls)
    .toEqual([[expect.stringMatching(/^\{"wakes":"failed","failed":".*NOPERM/)]]);
  open();
});
