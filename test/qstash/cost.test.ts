import { afterAll, beforeAll, expect, test } from "vitest";
import type { EnqueueOptions } from "../../src/index.ts";
import type { Message } from "../../src/qstash/message.ts";
import { connectionTo } from "../support/connection.ts";
import { useQStash } from "./rig.ts";

// A message costs as many commands as a task with the same options.
const rig = useQStash();
let redis: ReturnType<typeof connectionTo>;
beforeAll(async () => {
  redis = connectionTo(rig.redis.url);
  await redis.connect();
});
afterAll(() => redis.destroy());

/** How many commands Redis runs meanwhile, those of scripts included. The server's cron may run some, too. */
async function commandsDuring(run: () => Promise<unknown>): Promise<number> {
  await redis.sendCommand(["CONFIG", "RESETSTAT"]);
  await run();
  const stats = (await redis.sendCommand(["INFO", "commandstats"])) as unknown as string;
  return Array.from(stats.matchAll(/^cmdstat_(?!config|info)\S+:calls=(\d+)/gm), ([, calls]) =>
    Number(calls),
  ).reduce((sum, calls) => sum + calls, 0);
}

const TIMES = 3;

/** How many commands a call takes: the least of some. @param run makes a call. @param i which one */
async function commandsOf(run: (i: number) => Promise<unknown>): Promise<number> {
  const counts: number[] = [];
  for (let i = 0; i < TIMES; i++) counts.push(await commandsDuring(() => run(i)));
  return Math.min(...counts);
}

const limited = { flowControl: { key: "cost", parallelism: 1 } };
type OptionsOf<T> = (i: number) => T;
const cases: readonly (readonly [string, OptionsOf<object>, OptionsOf<EnqueueOptions>])[] = [
  ["a delayed one", () => ({}), () => ({})],
  ["with a key of flow control", () => limited, () => ({ group: "cost" })],
  [
    "with a deduplication id",
    (i) => ({ deduplicationId: `cost${i}` }),
    (i) => ({ dedup: { key: `task${i}`, window: "90d" } }),
  ],
];

test.each(cases)("%s", async (_, options, ofTask) => {
  const publish = (i: number) => rig.client.publish({ url: rig.url, delay: 3_600, ...options(i) });
  const payload: Message = { url: rig.url, retries: 3 };
  const enqueue = (i: number) =>
    rig.server.queue<Message>("qstash").enqueue(payload, { delay: "1h", maxAttempts: 4, ...ofTask(i) });
  // What is done once a minute.
  await Promise.all([publish(TIMES), enqueue(TIMES)]);
  const task = await commandsOf(enqueue);
  expect(task).toBeGreaterThan(3);
  expect(await commandsOf(publish)).toBe(task);
});
