import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type DequeueOptions, Queue, type QueueOptions } from "../../src/index.ts";
import { nameOfShard, queueKeys } from "../../src/kernel/names/keys.ts";
import type { Transport } from "../../src/kernel/transport.ts";
import { resp } from "../../src/transports/resp.ts";
import { type HeldReplies, networks, startHeldReplies } from "../support/held-replies.ts";
import { named } from "../support/new-tasks.ts";
import { aborted } from "../support/recorded.ts";

/** Some in each of four partitions. */
const IDS = Array.from({ length: 8 }, (_, i) => `t${i}`);

const layouts = [
  ["a plain queue", 1, 1],
  ["four partitions", 4, 1],
  ["four partitions in two databases", 4, 2],
] as const;

type Calls = (queue: Queue, options: DequeueOptions) => Promise<unknown>[];
const variants: Record<string, Calls> = {
  "one task": (queue, options) => [queue.dequeue(options)],
  "one task each": (queue, options) => Array.from({ length: 5 }, () => queue.dequeue(options)),
  "several tasks": (queue, options) => [queue.dequeue({ max: 3, ...options })],
  "several tasks of a worker": (queue, options) => [
    queue.dequeue({ max: 3, worker: { name: "w" }, ...options }),
  ],
};

let held: HeldReplies;
let name: string;
let count = 0;
beforeAll(async () => void (held = await startHeldReplies()));
beforeEach(() => void (name = `q${count++}`));
afterEach(() => held.release());
afterAll(() => held.stop());

test("a transport of resp() that is closed after the abort still hands back", async () => {
  const queue = (transport: Transport) => new Queue(name, { transport });
  const working = async () => (await queue(held.direct(1)).counts()).working;
  await queue(held.direct(1)).enqueueMany(named(IDS));
  const transport = resp(held.url);
  const controller = new AbortController();
  await queue(transport).counts();
  held.hold();
  const call = queue(transport).dequeue({ max: 3, signal: controller.signal });
  call.catch(() => {});
  await expect.poll(working).toBe(3);
  controller.abort();
  await expect(call).rejects.toMatchObject(aborted.reason);
  const closed = transport.close();
  held.release();
  await closed;
  expect(await queue(held.direct(1)).counts()).toMatchObject({ working: 0, pending: IDS.length });
  await expect(queue(transport).counts()).rejects.toMatchObject({ code: "redis_unreachable" });
});

describe.each(layouts)("an aborted dequeue of %s", (_, partitions, databases) => {
  const queueOver = (transport: Transport, options: Partial<QueueOptions> = {}) =>
    new Queue(name, { transport, partitions, ...options });
  const direct = () => queueOver(held.direct(databases));
  /** The pending ids of a partition, the next one first. */
  const pendingOf = async (partition: number) => {
    const own = partitions === 1 ? name : nameOfShard(name, partition);
    // The command names the key, by which the transport knows the database.
    const [outcome] = await held.direct(databases).send([["LRANGE", queueKeys(own).pending, "0", "-1"]]);
    return ((outcome && "reply" in outcome && outcome.reply) as string[]).toReversed();
  };
  const working = async () => (await direct().counts()).working;

  /**
   * All tasks wait, and no attempt is charged; those that one request has leased, in their places.
   * @returns how many tasks were leased before
   */
  const expectUntouched = async (requests = 1) => {
    await expect.poll(async () => (await direct().counts()).pending).toBe(IDS.length);
    const lists = await Promise.all(Array.from({ length: partitions }, (_0, i) => pendingOf(i)));
    for (const list of requests === 1 ? lists : []) expect(list).toEqual(list.toSorted());
    expect(lists.flat().toSorted()).toEqual(IDS);
    const infos = await Promise.all(IDS.map((id) => direct().get(id)));
    expect(infos.map((info) => [info?.state, info?.charged])).toEqual(IDS.map(() => ["pending", 0]));
    expect(await working()).toBe(0);
    return infos.map((info) => info?.attempt ?? 0).reduce((sum, attempt) => sum + attempt);
  };

  const add = () => direct().enqueueMany(named(IDS));

  /** A queue that has learned its partitions and opened its connections. */
  const warm = async (network: (typeof networks)[number], options: Partial<QueueOptions> = {}) => {
    const queue = queueOver(held.transport(network, databases), options);
    await queue.counts();
    return queue;
  };

  /** Makes calls whose reply is held back, and aborts them when tasks are leased: they throw at once. */
  const abortedMeanwhile = async (
    call: (signal: AbortSignal) => Promise<unknown>[],
    before: () => Promise<unknown> = async () => {},
  ) => {
    const controller = new AbortController();
    const ends = Promise.allSettled(call(controller.signal));
    await before();
    await expect.poll(working).toBeGreaterThan(0);
    controller.abort();
    for (const end of await ends) expect(end).toMatchObject(aborted);
    held.release();
  };

  describe.each(Object.entries(variants))("for %s", (what, calls) => {
    const requests = what === "one task each" && partitions > 1 ? 5 : 1;

    test.each(networks)("over %s hands back what is leased while it is under way", async (network) => {
      await add();
      const queue = await warm(network);
      held.holdNext();
      await abortedMeanwhile((signal) => calls(queue, { signal }));
      expect(await expectUntouched(requests)).toBeGreaterThan(0);
    });

    test("sends nothing if it was aborted before", async () => {
      await add();
      const queue = await warm("resp");
      const before = held.leasing();
      const controller = new AbortController();
      const early = calls(queue, { signal: AbortSignal.abort() });
      const late = calls(queue, { signal: controller.signal });
      controller.abort();
      const message = expect.stringContaining("was not sent") as string;
      for (const end of await Promise.allSettled([...early, ...late])) {
        expect(end).toMatchObject({ ...aborted, reason: { ...aborted.reason, message } });
      }
      expect(held.leasing()).toBe(before);
      expect(await expectUntouched()).toBe(0);
    });

    test.each(networks)(
      "over %s hands back what it has leased if it is aborted after the reply",
      async (network) => {
        await add();
        let open = () => {};
        const gate = new Promise<void>((resolve) => (open = resolve));
        let validations = 0;
        const validate = async (value: unknown) => {
          validations++;
          await gate;
          return { value };
        };
        const queue = await warm(network, {
          schema: { "~standard": { version: 1, vendor: "test", validate } },
        });
        await abortedMeanwhile(
          (signal) => calls(queue, { signal }),
          () => expect.poll(() => validations).toBeGreaterThan(0),
        );
        open();
        expect(await expectUntouched(requests)).toBeGreaterThan(0);
      },
    );
  });

  describe.each(networks)("over %s", (network) => {
    test("that settles too, hands back what it leases, and its settlements count", async () => {
      await direct().enqueue(1, { id: "first" });
      const [first] = await direct().dequeue();
      await add();
      const queue = await warm(network);
      const settlements = [{ receipt: first!.receipt, outcome: "complete" as const }];
      held.holdNext();
      await abortedMeanwhile(
        (signal) => [queue.settleAndDequeue(settlements, { max: 3, signal })],
        () => expect.poll(async () => (await direct().get("first"))?.state).toBe("completed"),
      );
      expect(await expectUntouched()).toBeGreaterThan(0);
      const before = held.leasing();
      const late = queue.settleAndDequeue(settlements, { signal: AbortSignal.abort() });
      await expect(late).rejects.toMatchObject(aborted.reason);
      expect(held.leasing()).toBe(before);
    });

    test("that waits, hands back what a later request of it leases", async () => {
      const queue = await warm(network);
      const before = held.leasing();
      await abortedMeanwhile(
        (signal) => [queue.dequeue({ wait: "50s", max: 3, signal })],
        async () => {
          // Its first request has found nothing: the next one comes when a check has seen tasks.
          await expect.poll(() => held.leasing()).toBeGreaterThan(before);
          await queue.counts();
          held.holdNext();
          await add();
        },
      );
      expect(await expectUntouched()).toBeGreaterThan(0);
    });

    test.each([{ token: "token-0123" }, { idempotencyKey: "key" }])(
      "is not handed back with %j: the same dequeue, sent again, gets the tasks",
      async (again) => {
        await add();
        const queue = await warm(network);
        held.holdNext();
        await abortedMeanwhile((signal) => [queue.dequeue({ max: 3, signal, ...again })]);
        const leased = await working();
        const tasks = await queue.dequeue({ max: 3, ...again });
        expect(tasks).toHaveLength(leased);
        const settled = await queue.settle(tasks.map(({ receipt }) => ({ receipt, outcome: "complete" })));
        expect(settled).toMatchObject(tasks.map(() => ({ ok: true })));
        expect(await direct().counts()).toMatchObject({ working: 0, pending: IDS.length - leased });
      },
    );
  });
});
