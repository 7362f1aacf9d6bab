import { nameOfPartition, queueKeys } from "../../../src/queue/core/keys.ts";
import { describe, expect, test } from "vitest";
import { Queue, sweep } from "../../../src/index.ts";
import type { Command, Transport } from "../../../src/queue/redis/transport.ts";
import { QUEUE, useRig } from "../../support/rig.ts";

const rig = useRig({ checkInvariants: false });

/** A function instance, and the commands that it has sent: scripts by name. */
function instance(partitions?: number) {
  const sent: string[] = [];
  const name = (command: Command) => ("script" in command ? command.script.name : command[0]);
  const transport: Transport = {
    send(commands, options) {
      sent.push(...commands.map(name));
      return rig.transport.send(commands, options);
    },
  };
  return { sent, queue: new Queue<number>(QUEUE, { transport, partitions, now: () => rig.now }) };
}

const partitionSizes = () =>
  Promise.all([0, 1].map((at) => rig.command("LLEN", queueKeys(nameOfPartition(QUEUE, at)).pending)));

const scores = async () => {
  const found = (await rig.command("ZRANGE", "sluice:queues", "0", "-1", "WITHSCORES")) as string[];
  return Object.fromEntries(found.flatMap((name, i) => (i % 2 ? [] : [[name, Number(found[i + 1])]])));
};

describe("partitions without work", () => {
  test("are left out by consumers and sweeps until a producer notes them", async () => {
    const producer = instance(8);
    for (let i = 0; i < 8; i++)
      await producer.queue.enqueueMany(Array.from({ length: 100 }, () => ({ payload: i })));
    const consumer = instance(8);
    for (let left = 800; left > 0;) {
      const tasks = await consumer.queue.dequeue({ max: 100 });
      await consumer.queue.settle(
        tasks.map(({ receipt }) => ({ receipt, outcome: "complete" as const, ttl: 0 })),
      );
      left -= tasks.length;
    }
    rig.now += 180_000;
    expect([...(await instance(8).queue.dequeue())]).toEqual([]);
    const idle = await scores();
    expect(Object.values(idle).filter((score) => score < 0).length).toBe(8);
    const poll = instance(8);
    await poll.queue.dequeue();
    poll.sent.length = 0;
    expect([...(await poll.queue.dequeue())]).toEqual([]);
    expect(poll.sent).toEqual(["listWork"]);

    // Also by a consumer that has just seen that there is none.
    for (let i = 0; i < 5; i++) {
      await instance(8).queue.enqueue(i, { id: `later-${i}` });
      expect((await poll.queue.dequeue()).map(({ payload }) => payload)).toEqual([i]);
    }
    await instance(8).queue.enqueue(7);
    const [task] = await instance(8).queue.dequeue();
    expect(task?.payload).toBe(7);
  });

  test("are visited when their next task is due or lease expires", async () => {
    const { queue } = instance(4);
    const ids = Array.from({ length: 12 }, (_, i) => `later-${i}`);
    for (const id of ids) await queue.enqueue(1, { id, delay: "20m" });
    await queue.enqueue(2, { id: "now" });
    rig.now += 180_000;
    const [task] = await instance(4).queue.dequeue({ lease: "30m" });
    expect(task?.id).toBe("now");
    expect([...(await instance(4).queue.dequeue())]).toEqual([]);
    const { emails: _, "/emails": __, ...above } = await scores();
    expect(Math.min(...Object.values(above))).toBeGreaterThan(rig.now);
    rig.now += 1_020_000;
    const found = [];
    for (let i = 0; i < 12; i++) found.push(...(await instance(4).queue.dequeue()));
    expect(found.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    rig.now += 1_800_000;
    await sweep(rig.transport, { now: () => rig.now });
    const again = [];
    for (let i = 0; i < 13; i++) again.push(...(await instance(4).queue.dequeue()));
    expect(again.map(({ id }) => id).toSorted()).toEqual([...ids, "now"].toSorted());
  });

  test("a task that is requeued is found, though its partition was idle", async () => {
    const { queue } = instance(4);
    const { id } = await queue.enqueue(1, { id: "again" });
    const [task] = await instance(4).queue.dequeue({ lease: "1h" });
    rig.now += 180_000;
    expect([...(await instance(4).queue.dequeue())]).toEqual([]);
    expect(
      await instance(4).queue.settle([{ receipt: task?.receipt ?? "", outcome: "requeue" }]),
    ).toMatchObject([{ ok: true, state: "pending" }]);
    expect((await instance(4).queue.dequeue()).map((found) => found.id)).toEqual([id]);
  });

  test("a wait ends when a partition gets a task", async () => {
    const waiting = new Queue<number>(QUEUE, { transport: rig.transport, partitions: 4 }).dequeue({
      wait: "5s",
    });
    await new Queue<number>(QUEUE, { transport: rig.transport, partitions: 4 }).enqueue(3);
    expect((await waiting).map(({ payload }) => payload)).toEqual([3]);
  });
});

describe("a dequeue with the caller's token", () => {
  test("sent again by another instance, it returns the same tasks", async () => {
    const { queue } = instance(8);
    await queue.enqueueMany(Array.from({ length: 40 }, (_, i) => ({ payload: i, id: `t${i}` })));
    for (let call = 0; call < 6; call++) {
      const options = { max: 3, token: `token-of-call-${call}` };
      const first = await instance(8).queue.dequeue(options);
      expect(first.length).toBeGreaterThan(0);
      const copy = await instance(8).queue.dequeue(options);
      expect(copy.map(({ receipt }) => receipt)).toEqual(first.map(({ receipt }) => receipt));
    }
  });
});

describe("a dequeue with the caller's token, of which another instance knows other partitions with work", () => {
  test("returns the same tasks", async () => {
    const producer = instance(8).queue;
    // In some of the partitions only.
    for (const id of ["t1", "t2", "t3", "t4"])
      for (let i = 0; i < 9; i++) await producer.enqueue(i, { group: id });
    const informed = instance(8).queue;
    await informed.dequeue();
    for (let call = 0; call < 20; call++) {
      const options = { token: `token-of-call-${call}` };
      const first = await instance(8).queue.dequeue(options);
      expect(first.length).toBe(1);
      const copy = await informed.dequeue(options);
      expect(copy.map(({ receipt }) => receipt)).toEqual(first.map(({ receipt }) => receipt));
    }
  });
});

test("a consumer that has seen the partitions takes from that with the oldest task", async () => {
  const { queue } = instance(2);
  const enqueue = (slot: string) =>
    queue.enqueueMany(Array.from({ length: 20 }, (_, i) => ({ payload: rig.now, id: `task-${i}{${slot}}` })));
  // Each of the two slots is in another partition.
  await enqueue("a");
  rig.now += 60_000;
  await enqueue("d");
  expect(await partitionSizes()).toEqual([20, 20]);
  const consumer = instance(2).queue;
  const taken: number[] = [];
  for (let i = 0; i < 20; i++) taken.push(...(await consumer.dequeue()).map(({ payload }) => payload));
  // It knows nothing of them before its first calls.
  expect(taken.filter((at) => at < rig.now).length).toBeGreaterThanOrEqual(18);
});

test("no task starves: the longest wait is bounded by that in one line", async () => {
  /** Half of the tasks are in one slot. Three consumers take less than comes, from the middle on more. */
  const longestWait = async (partitions: number) => {
    await rig.command("FLUSHALL");
    const producer = instance(partitions);
    const consumers = [instance(partitions), instance(partitions), instance(partitions)];
    let longest = 0;
    let left = 0;
    for (let second = 0; second < 60 || left > 0; second++) {
      rig.now += 1_000;
      if (second < 40) {
        await producer.queue.enqueueMany(
          Array.from({ length: 20 }, (_, i) => ({
            payload: rig.now,
            id: `t${second}.${i}{${i % 2 ? "hot" : i}}`,
          })),
        );
        left += 20;
      }
      for (const { queue } of consumers) {
        let free = second < 40 ? 6 : 12;
        while (free > 0) {
          const tasks = await queue.dequeue({ max: free });
          if (tasks.length === 0) break;
          await queue.settle(tasks.map(({ receipt }) => ({ receipt, outcome: "complete" as const, ttl: 0 })));
          for (const { payload } of tasks) longest = Math.max(longest, rig.now - payload);
          free -= tasks.length;
          left -= tasks.length;
        }
      }
    }
    return longest;
  };
  const inOneLine = await longestWait(1);
  const spread = await longestWait(8);
  expect(inOneLine).toBeGreaterThan(2_000);
  expect(spread).toBeLessThanOrEqual(3 * inOneLine);
});
