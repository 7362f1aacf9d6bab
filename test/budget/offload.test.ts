import { beforeEach, describe, expect, test } from "vitest";
import { sweep, Queue } from "../../src/index.ts";
import type { Transport } from "../../src/queue/redis/transport.ts";
import { upstash } from "../../src/transport/upstash.ts";
import { large, offloading, testStore, type TestStore } from "../offload/rig.ts";
import { useBilled } from "../support/billed.ts";

// What large payloads cost in Redis: the figures of docs/offload.md.

const billed = useBilled(async ({ queue }) => {
  await queue.enqueue(1);
  await (await queue.dequeue())[0]?.complete();
  await sweep(queue["transport"]);
});
const { cost } = billed;

const HOUR = 3_600_000;

let transport: Transport;
let store: TestStore;
let queue: Queue;
beforeEach(() => {
  const { url, token } = billed.gateway;
  transport = upstash({ url, token });
  store = testStore(Date.now() - 2 * HOUR);
  queue = new Queue(billed.queue.name, { transport, offload: offloading(store) });
});

test("a large payload costs no command more than a small one; the first of an instance 2", async () => {
  const small = await cost(() => queue.enqueue(1));
  expect(await cost(() => queue.enqueue(large("a")))).toBe(small + 2);
  expect(await cost(() => queue.enqueue(large("b")))).toBe(small);
});

describe("a sweep with offload costs", () => {
  /** What a sweep costs more than one without. */
  async function more() {
    const plain = await cost(() => sweep(transport));
    const requests = store.requests.length;
    const commands = (await cost(() => sweep(transport, { offload: offloading(store) }))) - plain;
    const asked = store.requests.slice(requests).map((request) => request.split(" ")[0]);
    return { commands, asked };
  }

  test("3 commands and a read; with a page also a list and a write", async () => {
    expect(await more()).toEqual({ commands: 3, asked: ["get", "list", "put"] });
    expect(await more()).toEqual({ commands: 3, asked: ["get"] });
  });

  test("2 more for a page with old objects, and 1 for each 100 of a queue", async () => {
    await queue.enqueueMany(Array.from({ length: 101 }, (_, i) => ({ payload: large(`${i}`) })));
    expect(await more()).toEqual({ commands: 3 + 2 + 2, asked: ["get", "list", "put"] });
  });

  test("with partitions, 1 for each 100 in each partition", async () => {
    const spread = new Queue("spread", { transport, partitions: 3, offload: offloading(store) });
    await spread.enqueueMany(Array.from({ length: 100 }, (_, i) => ({ payload: large(`${i}`) })));
    await sweep(transport);
    expect(await more()).toEqual({ commands: 3 + 2 + 3, asked: ["get", "list", "put"] });
  });
});
