import { truncate } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { startGateway } from "../../src/local/index.ts";
import { upstash } from "../../src/transports/upstash.ts";
import { dice } from "../support/dice.ts";
import { startRedis } from "../support/redis.ts";
import { rewriteFile, watchFile, type Sample } from "./append-only.ts";
import { acknowledgedUntil, Load, look, nothing, repaired, reported, RETRY } from "./load.ts";

// Redis is killed under load and comes back with its append-only file. With `appendfsync always`: test/long/chaos. Without a
// load: test/proofs/fault/restored.
const kills = Number(process.env["KILLS"] ?? 10);
const seed = Number(process.env["KILL_SEED"] ?? Date.now() % 1_000_000_000);

async function underLoad() {
  const redis = await startRedis({ args: ["--appendonly", "yes", "--appendfsync", "everysec"] });
  const gateway = await startGateway({ redisUrl: redis.url });
  onTestFinished(async () => {
    await gateway.close();
    await redis.stop();
  });
  return { redis, load: new Load(() => upstash(gateway, { retry: RETRY }), seed), roll: dice(seed) };
}

// A process that is killed loses what it had not written yet; a machine without power, what it had not
// synced: the last second. So the file is cut to a length that it had then, and at any byte up to the next
// known one.
test.each([
  ["the process is killed", 0],
  ["the power fails, half a second after the last sync", 500],
  ["the power fails, a second after the last sync", 1_000],
])(
  `appendfsync everysec, %s: what is lost was acknowledged after that, and the queue goes on (KILL_SEED=${seed})`,
  async (how, age) => {
    const { redis, load, roll } = await underLoad();
    for (let i = 0; i < kills; i++) {
      const watched = await watchFile(redis);
      const running = load.start();
      await Promise.all([load.more(30), sleep(200 + age + roll() * 200)]);
      await redis.kill();
      const killedAt = performance.now();
      await Promise.all([running.abort(), watched.stop()]);

      const { samples, file } = watched;
      const synced = samples.findLastIndex(({ at }) => at <= killedAt - age);
      const { at, length } = samples[Math.max(0, synced)] as Sample;
      const reach = (samples[synced + 1]?.length ?? length) - length;
      if (age > 0) await truncate(file, length + Math.floor(roll() * reach));
      await redis.restart();

      const { space, unsound } = await look(redis.url);
      expect(unsound).toEqual([]);
      const lost = load.lost(space);
      expect(acknowledgedUntil(at, lost)).toEqual([]);
      console.info(`    appendfsync everysec, ${how}: ${reported(lost, killedAt)}`);
      // All keys are as of the same moment, so there is nothing to repair.
      expect(await repaired(redis.url)).toEqual([]);
      load.writeOff(lost);
      await rewriteFile(redis);
    }
    await load.drain();
    const end = await look(redis.url);
    expect({ unsound: end.unsound, lost: load.lost(end.space) }).toEqual({ unsound: [], lost: nothing });
    expect(load.unfinished(end.space)).toEqual([]);
  },
);
