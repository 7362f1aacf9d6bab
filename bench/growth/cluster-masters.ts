// A Redis Cluster of masters alone, which share the slots evenly.

import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@redis/client";
import type { Transport } from "../../src/index.ts";
import { hashSlot } from "../../src/transports/hash-slot.ts";
import { resp } from "../../src/transports/resp.ts";
import { startRedis } from "../../test/support/redis.ts";

const SLOTS = 16_384;
/** The bus of a node listens 10,000 above its port; both stay below the ephemeral ports. */
const PORTS = [20_000, 22_000] as const;
const DEADLINE = 30_000;

/** What a server has used so far. */
export interface Used {
  /** Processor time, s. */
  readonly cpu: number;
  /** Commands, those inside scripts included. */
  readonly commands: number;
}

export interface Masters {
  readonly count: number;
  /** Which of the masters has this key. */
  readonly masterOf: (key: string) => number;
  readonly transport: Transport;
  /** By server. */
  used(): Promise<Used[]>;
  empty(): Promise<void>;
  stop(): Promise<void>;
}

async function startMaster() {
  const redis = await startRedis({ args: ["--cluster-enabled", "yes"], ports: PORTS });
  const control = await createClient({ url: redis.url, RESP: 2 }).connect();
  return {
    redis,
    control,
    async used(): Promise<Used> {
      const text: string = await control.sendCommand(["INFO", "cpu", "commandstats"]);
      const sum = (pattern: RegExp) =>
        Array.from(text.matchAll(pattern), ([, n]) => Number(n)).reduce((total, n) => total + n, 0);
      return {
        cpu: sum(/^used_cpu_(?:sys|user):([\d.]+)/gm),
        commands: sum(/^cmdstat_(?!info|cluster)[^:]+:calls=(\d+)/gm),
      };
    },
    async stop() {
      control.destroy();
      await redis.stop();
    },
  };
}

type Master = Awaited<ReturnType<typeof startMaster>>;

/** Divides the slots, and waits until all masters know each other. */
async function form(masters: readonly Master[], bounds: readonly number[]): Promise<void> {
  const [first] = masters;
  for (const [i, { control, redis }] of masters.entries()) {
    const last = (bounds[i + 1] ?? SLOTS) - 1;
    await control.sendCommand(["CLUSTER", "ADDSLOTSRANGE", String(bounds[i]), String(last)]);
    await first?.control.sendCommand(["CLUSTER", "MEET", "127.0.0.1", String(redis.port)]);
  }
  const formed = async ({ control }: Master) => {
    const info: string = await control.sendCommand(["CLUSTER", "INFO"]);
    const known = Number(/cluster_known_nodes:(\d+)/.exec(info)?.[1]);
    return /cluster_state:ok/.test(info) && known === masters.length;
  };
  for (const end = Date.now() + DEADLINE; ; await sleep(50)) {
    const all = await Promise.all(masters.map(formed));
    if (all.every(Boolean)) return;
    if (Date.now() > end) throw new Error(`${masters.length} masters formed no cluster`);
  }
}

export async function startMasters(count: number): Promise<Masters> {
  const masters: Master[] = [];
  for (let i = 0; i < count; i++) masters.push(await startMaster());
  const bounds = masters.map((_, i) => Math.floor((i * SLOTS) / count));
  await form(masters, bounds);
  const transport = resp({ nodes: masters.map(({ redis }) => redis.url) });
  return {
    count,
    masterOf: (key) => bounds.findLastIndex((first) => first <= hashSlot(key)),
    transport,
    used: () => Promise.all(masters.map((master) => master.used())),
    async empty() {
      for (const { control } of masters) await control.flushAll();
    },
    async stop() {
      await transport.close();
      for (const master of masters) await master.stop();
    },
  };
}
