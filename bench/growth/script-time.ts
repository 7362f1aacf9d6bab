// How long a script keeps Redis busy, by Redis's own statistics of commands: they cost the script nothing, as
// SLOWLOG would, which logs each command inside it.

import { createClient } from "@redis/client";
import type { Command, Transport } from "../../src/index.ts";
import { resp } from "../../src/transports/resp.ts";
import { startRedis } from "../../test/support/redis.ts";

/** One call of a script, µs. */
export interface ScriptTime {
  /** From its start to its end, as Redis sees it. Other programs may have had the processor meanwhile. */
  readonly elapsed: number;
  /** Processor time of Redis from before the request until after the reply: some 0.1 ms more than the script. */
  readonly busy: number;
}

/** How long a script certainly took, if other programs disturb some of the calls. */
export function certain({ elapsed, busy }: ScriptTime): number {
  return Math.min(elapsed, busy);
}

const isScript = (command: Command, name: string) => "script" in command && command.script.name === name;

/** A Redis whose script calls can be timed. */
export async function startTimedRedis() {
  const redis = await startRedis();
  const control = await createClient({ url: redis.url, RESP: 2 }).connect();
  const connection = resp(redis.url);
  let timed: { script: string; found: ScriptTime[] } | undefined;

  const usedMemory = async () => Number(/^used_memory:(\d+)/m.exec(await control.info("memory"))?.[1]);
  /** Of all scripts so far. */
  const used = async (): Promise<ScriptTime> => {
    const text: string = await control.sendCommand(["INFO", "commandstats", "cpu"]);
    const cpu = text.matchAll(/^used_cpu_(?:sys|user)_main_thread:([\d.]+)/gm);
    return {
      elapsed: Number(/^cmdstat_evalsha:calls=\d+,usec=(\d+)/m.exec(text)?.[1] ?? 0),
      busy: Array.from(cpu, ([, seconds]) => Number(seconds) * 1e6).reduce((sum, one) => sum + one, 0),
    };
  };

  const transport: Transport = {
    async send(commands, options) {
      const wanted = timed;
      if (!wanted) return connection.send(commands, options);
      const outcomes = [];
      // One by one: in front of an enqueue may go a `register` of its queue.
      for (const command of commands) {
        const before = await used();
        outcomes.push(...(await connection.send([command], options)));
        const after = await used();
        if (!isScript(command, wanted.script)) continue;
        wanted.found.push({ elapsed: after.elapsed - before.elapsed, busy: after.busy - before.busy });
      }
      return outcomes;
    },
  };

  return {
    transport,
    usedMemory,
    /** Runs an operation, one request of that script. */
    async time(script: string, run: () => Promise<unknown>): Promise<ScriptTime> {
      const found: ScriptTime[] = [];
      timed = { script, found };
      try {
        await run();
      } finally {
        timed = undefined;
      }
      const [first, ...others] = found;
      if (!first || others.length > 0) throw new Error(`${found.length} calls of ${script}, not one`);
      return first;
    },
    /**
     * Looks for a missing member as often as the key has members. While Redis moves a grown hash table to one
     * twice as large, each look moves a part: then all of it is moved.
     */
    async finishTable(key: string, kind: "hash" | "zset"): Promise<void> {
      const [count, find] = kind === "hash" ? (["HLEN", "HEXISTS"] as const) : (["ZCARD", "ZSCORE"] as const);
      const look = `for i = 1, 100000 do redis.call('${find}', KEYS[1], '') end`;
      const members = Number(await control.sendCommand([count, key]));
      for (let looks = 0; looks < members; looks += 100_000) {
        await control.sendCommand(["EVAL", look, "1", key]);
      }
    },
    async stop() {
      await connection.close();
      control.destroy();
      await redis.stop();
    },
  };
}

export type TimedRedis = Awaited<ReturnType<typeof startTimedRedis>>;
