import { describe, expect, test } from "vitest";
import { Queue, SluiceError } from "../../../src/index.ts";
import type { Command } from "../../../src/kernel/transport.ts";
import { instances } from "../../support/instances.ts";
import { many } from "../../support/new-tasks.ts";
import { QUEUE, useRig } from "../../support/rig.ts";

const rig = useRig({ checkInvariants: false });
const { instance, queueOf, keysIn } = instances(rig);

const partitionSizes = () => Promise.all([0, 1].map((at) => rig.command("LLEN", keysIn(at).pending)));

const scores = async () => {
  const found = (await rig.command("ZRANGE", "sluice:queues", "0", "-1", "WITHSCORES")) as string[];
  return Object.fromEntries(found.flatMap((name, i) => (i % 2 ? [] : [[name, Number(found[i + 1])]])));
};

describe("partitions without work", () => {
  test("are left out by consumers and sweeps until a producer notes them", async () => {
    const producer = queueOf<number>(8);
    for (let i = 0; i < 8; i++) await producer.enqueueMany(many(100));
    const consumer = queueOf(8);
    for (let left = 800; left > 0;) {
      const tasks = await consumer.dequeue({ max: 100 });
      await consumer.settle(tasks.map(({ receipt }) => ({ receipt, outcome: "complete" as const, ttl: 0 })));
      left -= tasks.length;
    }
    rig.now += 180_000;
    expect([...(await queueOf<number>(8).dequeue())]).toEqual([]);
    const idle = await scores();
    expect(Object.values(idle).filter((score) => score < 0).length).toBe(8);
    const sent: string[] = [];
    const name = (command: Command) => ("script" in command ? command.script.name : command[0]);
    const sending = async (_: number, commands: readonly Command[]) => {
      sent.push(...commands.map(name));
      if (sent.length === addedBefore) await queueOf(8).enqueue(3);
    };
    let addedBefore = 0;
    const poll = queueOf<number>(8, instance(sending));
    await poll.dequeue();
    sent.length = 0;
    expect([...(await poll.dequeue())]).toEqual([]);
    expect(sent).toEqual(["listWork"]);

    // A wait sends no more until it reads that a partition has a task; then it dequeues without another look.
    const transport = instance(sending);
    // What it reads is old when it reads again.
    const patient = new Queue<number>(QUEUE, { transport, partitions: 8, now: () => (rig.now += 1_000) });
    await patient.dequeue();
    [sent.length, addedBefore] = [0, 3];
    const waited = await patient.dequeue({ wait: "60s" });
    expect(waited.map(({ payload }) => payload)).toEqual([3]);
    expect(sent.slice(0, 3)).toEqual(["listWork", "listWork", "listWork"]);
    expect(sent).not.toContain("EXISTS");

    // Also by a consumer that has just seen that there is none.
    for (let i = 0; i < 5; i++) {
      await queueOf<number>(8).enqueue(i, { id: `later-${i}` });
      expect((await poll.dequeue()).map(({ payload }) => payload)).toEqual([i]);
    }
    await queueOf<number>(8).enqueue(7);
    const [task] = await queueOf<number>(8).dequeue();
    expect(task?.payload).toBe(7);
  });

  test("a wait ends when a partition gets a task", async () => {
    let [requests, addedBefore] = [0, -1];
    const waiting = queueOf<number>(
      4,
      instance(async () => {
        if (requests++ === addedBefore) await queueOf(4).enqueue(3, { group: "g" });
      }),
    );
    // A partition that has just had a task is looked at, without a new note of it.
    await queueOf(4).enqueue(2, { group: "g" });
    await (await waiting.dequeue())[0]?.complete();
    [requests, addedBefore] = [0, 3];
    expect((await waiting.dequeue({ wait: "60s" })).map(({ payload }) => payload)).toEqual([3]);
    // It has not come only with the next dequeue, ten seconds later.
    expect(requests).toBeLessThan(10);
  });
});

test("a dequeue with the caller's token returns the same tasks if another instance sends it again, whichever of the two knows the partitions with work (law 5)", async () => {
  // In some of the partitions only.
  for (const group of ["t1", "t2", "t3", "t4"]) await queueOf(8).enqueueMany(many(20, { group }));
  const informed = queueOf(8);
  await informed.dequeue();
  for (let call = 0; call < 20; call++) {
    const options = { max: 3, token: `token-of-call-${call}` };
    const pair = [queueOf(8), [informed, queueOf(8)][call % 2]!];
    const [sender, other] = call % 3 ? pair : pair.toReversed();
    const first = await sender!.dequeue(options);
    expect(first.length).toBeGreaterThan(0);
    const copy = await other!.dequeue(options);
    expect(copy.map(({ receipt }) => receipt)).toEqual(first.map(({ receipt }) => receipt));
  }
});

test("a consumer that has seen the partitions takes from that with the oldest task", async () => {
  const queue = queueOf(2);
  const enqueue = (slot: string) =>
    queue.enqueueMany(Array.from({ length: 20 }, (_, i) => ({ payload: rig.now, id: `task-${i}{${slot}}` })));
  // Each of the two slots is in another partition.
  await enqueue("a");
  rig.now += 60_000;
  await enqueue("d");
  expect(await partitionSizes()).toEqual([20, 20]);
  const consumer = queueOf<number>(2);
  const taken: number[] = [];
  for (let i = 0; i < 20; i++) taken.push(...(await consumer.dequeue()).map(({ payload }) => payload));
  // It knows nothing of them before its first calls.
  expect(taken.filter((at) => at < rig.now).length).toBeGreaterThanOrEqual(18);
});

test("a dequeue of which any request fails throws, and does not answer that nothing is there", async () => {
  await queueOf(8).dequeue();
  let failed = 0;
  for (let isBroken = true; isBroken; failed++) {
    isBroken = false;
    const failing = instance((request) => {
      if (request !== failed) return;
      isBroken = true;
      throw new SluiceError("redis_unreachable", "the connection broke");
    });
    const outcome = await queueOf(8, failing)
      .dequeue()
      .then(
        () => "nothing",
        ({ code }: SluiceError) => code,
      );
    expect(outcome).toBe(isBroken ? "redis_unreachable" : "nothing");
  }
  expect(failed).toBeGreaterThanOrEqual(2);
});
