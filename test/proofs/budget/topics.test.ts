import { describe, expect, test } from "vitest";
import { defineTopic, Topics } from "../../../src/http/topics/index.ts";
import { Queue, sweep } from "../../../src/index.ts";
import { topics as part } from "../../../src/http/topics/index.ts";
import { changeSubscriptions } from "../../../src/features/topics/index.ts";
import type { Transport } from "../../../src/kernel/transport.ts";
import { useBilled } from "../../support/billed.ts";

// What topics cost beside the enqueues of their copies.

const billed = useBilled();
const kept = defineTopic("orders", { retain: { for: "1h" } });

/** Subscribes that many queues, of which each is registered. */
async function subscribed(count: number): Promise<Queue[]> {
  const names = Array.from({ length: count }, (_, i) => `q${i}`);
  const changes = names.map((name) => ({ pair: `${name} orders`, record: "1;o;{}", replay: "" }));
  for (let i = 0; i < count; i += 200) {
    await changeSubscriptions({ transport: billed.transport }, changes.slice(i, i + 200));
  }
  return names.map((name) => new Queue(name, { transport: billed.transport }));
}

/** What the enqueues cost that a publish makes. */
async function enqueues(queues: readonly Queue[], id: string): Promise<number> {
  const options = { id, headers: { a: "b" } };
  return billed.cost(() => Promise.all(queues.map((queue) => queue.enqueue({ order: 1 }, options))));
}

describe("a publish costs", () => {
  test("what its enqueues cost and 1 command, with retain 2, in 1 request", async () => {
    const queues = await subscribed(5);
    const topics = new Topics({ transport: billed.transport });
    await enqueues(queues, "noted");
    const own = await enqueues(queues, "own");
    const options = { headers: { a: "b" } };
    for (const [topic, more] of [
      [topics.topic("orders"), 1],
      [topics.topic(kept), 2],
    ] as const) {
      await topic.publish({ order: 1 }, options);
      billed.gateway.resetUsage();
      await topic.publish({ order: 1 }, options);
      expect(billed.gateway.usage()).toMatchObject({ commands: own + more, requests: 1 });
    }
  });

  test("the same for each of 1,000 subscribers, in 2 requests", async () => {
    const queues = await subscribed(1_000);
    const topics = new Topics({ transport: billed.transport });
    const one = queues.slice(0, 1);
    await enqueues(one, "noted");
    const own = await enqueues(one, "own");
    const publish = () => topics.topic("orders").publish({ order: 1 }, { headers: { a: "b" } });
    await publish();
    billed.gateway.resetUsage();
    const { copies } = await publish();
    expect(copies).toHaveLength(1_000);
    expect(billed.gateway.usage()).toMatchObject({ commands: 1_000 * own + 1, requests: 2 });
  });
});

test("topics cost a sweep nothing, and what is retained at most 12 commands", async () => {
  const sweeping = (transport: Transport, also: object[]) => sweep(transport, { also: also as never });
  const topics = new Topics({ transport: billed.transport });
  await subscribed(1);
  await topics.topic("orders").publish(1);
  const before = await billed.cost(() => sweeping(billed.transport, []));
  expect(await billed.cost(() => sweeping(billed.transport, [part]))).toBe(before);
  for (let i = 0; i < 3; i++) await topics.topic(kept).publish(i);
  await sweeping(billed.transport, [part]);
  expect(await billed.cost(() => sweeping(billed.transport, [part]))).toBeLessThanOrEqual(before + 12);
});
