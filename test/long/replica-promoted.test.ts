import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { connectRedis } from "../../src/local/gateway/redis.ts";
import { startGateway } from "../../src/local/index.ts";
import { upstash } from "../../src/transports/upstash.ts";
import { startRedis } from "../support/redis.ts";
import { startProxy } from "../transports/proxy.ts";
import { acknowledgedUntil, Load, look, nothing, repaired, reported, RETRY } from "./load.ts";

const seed = Number(process.env["FAILOVER_SEED"] ?? Date.now() % 1_000_000_000);

/** A Redis with a replica behind a link that can be paused. */
async function replicated() {
  const primary = await startRedis({ args: ["--repl-diskless-sync-delay", "0"] });
  const link = await startProxy(primary.port);
  const address = ["127.0.0.1", new URL(link.url).port];
  const replica = await startRedis({ args: ["--replicaof", ...address] });
  const [toPrimary, toReplica] = await Promise.all([
    connectRedis(primary.url, () => {}),
    connectRedis(replica.url, () => {}),
  ]);
  const gateway = await startGateway({ redisUrl: primary.url });
  onTestFinished(async () => {
    await gateway.close();
    toPrimary.close();
    toReplica.close();
    await Promise.all([link.stop(), replica.stop(), primary.stop()]);
  });
  while (!/^master_link_status:up\r$/m.test(String(await toReplica.send(["INFO", "replication"]))))
    await sleep(10);
  return {
    redisUrl: replica.url,
    gateway,
    /**
     * Waits until the replica has everything, then stops the replication.
     * @returns the time by `performance.now()` up to which the replica has all acknowledged writes
     */
    async holdUp(): Promise<number> {
      const at = performance.now();
      await toPrimary.send(["INCR", "probe"]);
      expect(await toPrimary.send(["WAIT", "1", "10000"])).toBe("1");
      void link.hold();
      return at;
    },
    kill: () => primary.kill(),
    /** Makes the replica the primary, behind the same address. */
    async promote(): Promise<void> {
      link.breakAll();
      expect(String(await toReplica.send(["REPLICAOF", "NO", "ONE"]))).toBe("OK");
      await gateway.close();
      const { url, token } = gateway;
      const next = await startGateway({ redisUrl: replica.url, token, port: Number(new URL(url).port) });
      onTestFinished(() => next.close());
    },
  };
}

test.each([0, 300, 1_000])(
  `a replica that is %i ms behind is promoted: what is lost was acknowledged in that time, and the queue goes on (FAILOVER_SEED=${seed})`,
  async (behind) => {
    const { redisUrl, gateway, holdUp, kill, promote } = await replicated();
    const load = new Load(() => upstash(gateway, { retry: RETRY }), seed);
    const running = load.start();
    await load.more(50);
    const at = await holdUp();
    await Promise.all([sleep(behind), behind > 0 && load.more(20)]);
    await kill();
    const killedAt = performance.now();
    await running.abort();
    await promote();

    const { space, unsound } = await look(redisUrl);
    expect(unsound).toEqual([]);
    const lost = load.lost(space);
    expect(acknowledgedUntil(at, lost)).toEqual([]);
    console.info(`    a replica ${behind} ms behind: ${reported(lost, killedAt)}`);
    // The keys of one server are all as of one moment, so there is nothing to repair: see failover.test.ts.
    expect(await repaired(redisUrl)).toEqual([]);
    load.writeOff(lost);

    const again = load.start();
    await load.more(50);
    await again.stop();
    await load.drain();
    const end = await look(redisUrl);
    expect({ unsound: end.unsound, lost: load.lost(end.space) }).toEqual({ unsound: [], lost: nothing });
    expect(load.unfinished(end.space)).toEqual([]);
  },
);
