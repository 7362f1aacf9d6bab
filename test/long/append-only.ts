/** The append-only file of a test's Redis: its length over time, and its rewrite. */
import { stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { connectRedis } from "../../src/local/gateway/redis.ts";
import { appendOnlyFiles } from "../support/append-only-files.ts";
import type { TestRedis } from "../support/redis.ts";

/** A length that the append-only file had, with everything in it that was acknowledged before `at`. */
export interface Sample {
  readonly at: number;
  readonly length: number;
}

/** The file that a Redis appends to. */
function appendOnlyFile({ folder }: Pick<TestRedis, "folder">): string {
  return appendOnlyFiles(folder).at(-1) as string;
}

/** Samples the length of the append-only file, from the first reliable sample until it is stopped. */
export async function watchFile(redis: TestRedis) {
  const file = appendOnlyFile(redis);
  const samples: Sample[] = [];
  const direct = await connectRedis(redis.url, () => {});
  const run = { over: false };
  const watching = (async () => {
    while (!run.over) {
      const at = performance.now();
      const info = await direct.send(["INFO", "persistence"]).catch(() => "");
      // During a sync, Redis may keep acknowledged writes in memory.
      if (/^aof_buffer_length:0\r$/m.test(String(info))) {
        samples.push({ at, length: (await stat(file)).size });
      }
      await sleep(10);
    }
  })();
  while (samples.length === 0) await sleep(1);
  return {
    samples: samples as readonly Sample[],
    file,
    async stop() {
      run.over = true;
      await watching;
      direct.close();
    },
  };
}

/**
 * Writes the file anew. After a power cut, Redis 7.0 may leave half of a transaction in it: that has no
 * effect now, and is carried out at the start after the next.
 */
export async function rewriteFile(redis: TestRedis): Promise<void> {
  const before = appendOnlyFile(redis);
  const direct = await connectRedis(redis.url, () => {});
  await direct.send(["BGREWRITEAOF"]);
  while (appendOnlyFile(redis) === before) await sleep(5);
  while (!/^aof_rewrite_in_progress:0\r$/m.test(String(await direct.send(["INFO", "persistence"]))))
    await sleep(5);
  direct.close();
}
