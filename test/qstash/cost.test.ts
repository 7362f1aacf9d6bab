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

/** How many commands Redis runs meanwhile, those of scripts included. */
async function commandsOf(run: () => Promise<unknown>): Promise<number> {
  await redis.sendCommand(["CONFIG", "RESETSTAT"]);
  await run();
  const stats = (await redis.sendCommand(["INFO", "commandstats"])) as unknown as string;
  return Array.from(stats.matchAll(/^cmdstat_(?!config|info)\S+:calls=(\d+)/gm), ([, calls]) =>
    Number(calls),
  ).reduce((sum, calls) => sum + calls, 0);
}

const limited = { flowControl: { key: "cost", parallelism: 1 } };
const cases: readonly (readonly [string, object, EnqueueOptions])[] = [
  ["a delayed one", {}, {}],
  ["with a key of flow control", limited, { group: "cost" }],
  ["with a deduplication id", { deduplicationId: "cost" }, { dedup: { key: "task", window: "90d" } }],
];

test.each(cases)("%s", async (_, options, ofTask) => {
  const publish = () => rig.client.publish({ url: rig.url, delay: 3_600, ...options });
  const payload: Message = { url: rig.url, retries: 3 };
  const enqueue = () =>
    rig.server.queue<Message>("qstash").enqueue(payload, { delay: "1h", maxAttempts: 4, ...ofTask });
  // What is done once a minute.
  if (!("dedup" in ofTask)) await Promise.all([publish(), enqueue()]);
  const task = await commandsOf(enqueue);
  expect(task).toBeGreaterThan(3);
  expect(await commandsOf(publish)).toBe(task);
});
