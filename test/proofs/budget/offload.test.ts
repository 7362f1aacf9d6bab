import { beforeEach, describe, expect, test } from "vitest";
import { sweep, Queue } from "../../../src/index.ts";
import { large, offloading, testStore, type TestStore } from "../../features/offload/rig.ts";
import { useBilled } from "../../support/billed.ts";

// What large payloads cost in Redis: the figures of docs/offload.md.

const billed = useBilled();
const { cost } = billed;

const HOUR = 3_600_000;

let store: TestStore;
let queue: Queue;
beforeEach(() => {
  store = testStore(Date.now() - 2 * HOUR);
  queue = new Queue(billed.queue.name, { transport: billed.transport, offload: offloading(store) });
});

test("a large payload costs no command more than a small one; the first of an instance 2", async () => {
  const small = await cost(() => queue.enqueue(1));
  expect(await cost(() => queue.enqueue(large("a")))).toBe(small + 2);
  expect(await cost(() => queue.enqueue(large("b")))).toBe(small);
});

describe("a sweep with offload costs", () => {
  const larges = (count: number) => Array.from({ length: count }, (_, i) => ({ payload: large(`${i}`) }));

  /** What a sweep costs more than one without. */
  async function more() {
    const plain = await cost(() => sweep(billed.transport));
    const requests = store.requests.length;
    const commands = (await cost(() => sweep(billed.transport, { offload: offloading(store) }))) - plain;
    const asked = store.requests.slice(requests).map((request) => request.split(" ")[0]);
    return { commands, asked };
  }

  test("3 commands and a read; with a page also a list and a write", async () => {
    expect(await more()).toEqual({ commands: 3, asked: ["get", "list", "put"] });
    expect(await more()).toEqual({ commands: 3, asked: ["get"] });
  });

  test("2 more for a page with old objects, and 1 for each 100 of a queue", async () => {
    await queue.enqueueMany(larges(101));
    expect(await more()).toEqual({ commands: 3 + 2 + 2, asked: ["get", "list", "put"] });
  });

  test("with partitions, 1 for each 100 in each partition", async () => {
    const { transport } = billed;
    await new Queue("spread", { transport, partitions: 3, offload: offloading(store) }).enqueueMany(
      larges(100),
    );
    await sweep(transport);
    expect(await more()).toEqual({ commands: 3 + 2 + 3, asked: ["get", "list", "put"] });
  });
});
