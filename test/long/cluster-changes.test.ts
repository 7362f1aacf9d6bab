import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { queueKeys } from "../../src/kernel/names/keys.ts";
import { hashSlot } from "../../src/transports/hash-slot.ts";
import { resp } from "../../src/transports/resp.ts";
import { migrateSlot } from "../support/cluster-changes.ts";
import { startCluster } from "../support/redis-cluster.ts";
import { Load, look, nothing, QUEUE } from "./load.ts";

// All else that a cluster goes through under load is in test/long/chaos.
test("a node is added, and gets the slot of a queue in use: nothing acknowledged is lost, nothing comes again", async () => {
  const cluster = await startCluster();
  const retry = { deadline: 30_000, tryTimeout: 3_000, longestWait: 100 };
  const transport = resp({ url: cluster.url, retry });
  onTestFinished(async () => {
    await transport.close();
    await cluster.stop();
  });
  const load = new Load(() => transport, 1);
  const running = load.start();
  await load.more(30);
  const added = await cluster.add();
  await migrateSlot(cluster, hashSlot(queueKeys(QUEUE).tasks), added, () => sleep(20));
  await load.more(30);
  await running.stop();
  await load.drain();
  const { space, unsound } = await look(added.redis.url);
  expect({ unsound, lost: load.lost(space) }).toEqual({ unsound: [], lost: nothing });
  expect(load.unfinished(space)).toEqual([]);
  expect(load.deliveredAgain).toEqual([]);
});
