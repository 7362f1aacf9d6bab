import { afterEach, describe, expect, test, vi } from "vitest";
import { queueKeys } from "../../../src/kernel/names/keys.ts";
import { callOf } from "../../../src/kernel/scripts/binding.ts";
import { lastReply } from "../../../src/kernel/scripts/replies.ts";
import { dequeueScript } from "../../../src/kernel/scripts/take-scripts.ts";
import { fixChance } from "../../support/day.ts";
import { byBothScripts, byHandOver, type PlainItem } from "../../support/plain-enqueue.ts";
import { QUEUE, START, useRig } from "../../support/rig.ts";

const rig = useRig();
afterEach(() => void vi.restoreAllMocks());
const keys = queueKeys(QUEUE);
const args = { testNow: String(START), wake: "60000", lease: "30000", token: "token-01" };
const items = (count: number, record = "\nj1"): PlainItem[] =>
  Array.from({ length: count }, (_, i) => ({ id: `id${i}`, record }));

const handOver = (given: readonly PlainItem[], more: Partial<typeof args> = {}) =>
  byHandOver(rig.transport, keys, given, { ...args, ...more });

/** One dequeue under the token of the hand-overs. */
async function dequeue(max: number) {
  const call = callOf(dequeueScript, keys, {
    ...args,
    maxTasks: String(max),
    resend: "",
    maxBytes: "9000000",
    worker: "",
    info: "",
  });
  return dequeueScript.decode(lastReply(await rig.transport.send([call])));
}

describe("a hand-over leaves the same data as an enqueue that wakes and a dequeue (I2 I4)", () => {
  test.each([
    ["of one task", items(1)],
    ["of several tasks", items(3)],
    ["of as many as it takes", items(32)],
    ["of tasks with options", items(2, ";t=abc;l=1000;m=3;r=0;d=5;U=1000;h=2\n{}j1")],
    [
      "of tasks with different options",
      [...items(1), { id: "a", record: ";l=1000\nj1" }, { id: "b", record: ";m=1\nb" }],
    ],
  ])("%s", async (_, given) => {
    await byBothScripts(rig.transport, keys, given, args);
    const { tasks } = await dequeue(given.length);
    const expected = await rig.keySpace();

    await rig.command("FLUSHALL");
    const leases = tasks.flatMap(({ lease, deadlineAt }) => [lease, deadlineAt]);
    const answer = { created: given.map(() => true), wake: false, leases };
    expect(await handOver(given)).toEqual(answer);
    expect(await rig.keySpace()).toEqual(expected);
    // A copy whose reply was lost gets the same answer, later too, and changes nothing (law 5).
    expect(await handOver(given, { testNow: String(START + 20_000) })).toEqual(answer);
    expect(await rig.keySpace()).toEqual(expected);
  });
});

test.each([
  ["one large task", [{ id: "a", record: `\nj"${"x".repeat(100_000)}"` }]],
  ["several tasks", items(3)],
])("a full Redis gets nothing of a hand-over of %s (law 10)", async (_, given) => {
  await rig.command("CONFIG", "SET", "maxmemory", "1");
  try {
    await expect(handOver(given)).rejects.toMatchObject({ code: "queue_full" });
    expect(await rig.keySpace()).toEqual({});
  } finally {
    await rig.command("CONFIG", "SET", "maxmemory", "0");
  }
});

describe("a copy of a hand-over leases nothing", () => {
  const given = items(3);

  test.each<[string, (receipts: readonly string[]) => Promise<unknown>]>([
    [
      "if a task of it is completed",
      ([receipt = ""]) => rig.queue().settle([{ receipt, outcome: "complete" }]),
    ],
    [
      "if a task of it is pending again",
      ([receipt = ""]) => rig.queue().settle([{ receipt, outcome: "requeue" }]),
    ],
    [
      "if its leases have expired, and other consumers have the tasks",
      async () => {
        rig.now += 30_000;
        // A task whose lease has expired is delivered alone.
        for (let taken = 0; taken < 3; taken++) await rig.queue().dequeue();
      },
    ],
  ])("%s (I2)", async (_, change) => {
    const { leases } = await handOver(given);
    await change(given.map(({ id }, i) => `1.1.${leases[2 * i]}.${args.token}.${id}`));
    const { "sluice:{emails}:tasks": __, ...before } = await rig.keySpace();
    const records = await recordsOf();
    // As `enqueue` answers for tasks of its caller. It asks for a wake again, which may have been lost.
    expect(await handOver(given)).toMatchObject({ created: [true, true, true], leases: [] });
    const { "sluice:{emails}:tasks": ___, ...after } = await rig.keySpace();
    expect([after, await recordsOf()]).toEqual([before, records]);
  });

  /** All but who is awake. */
  const recordsOf = async () => [...(await rig.space()).tasks].filter(([field]) => field !== "~wake");
});

describe("tasks are enqueued as by an enqueue that wakes", () => {
  const two = [{ id: "id1", record: ";t=mine\nj1" }, ...items(1)];
  test.each<[string, () => Promise<unknown>]>([
    ["if a task waits (I8)", () => rig.queue().enqueue(1, { id: "oldest" })],
    ["if a task of a group waits (I8)", () => rig.queue().enqueue(1, { id: "oldest", group: "a" })],
    [
      "if a task of a group waits behind a limit",
      async () => {
        await rig.operator().configureGroup("a", { maxWorking: 1 });
        await rig.queue().enqueueMany([1, 2].map((payload) => ({ payload, group: "a", id: `a${payload}` })));
        await rig.queue().dequeue({ max: 2 });
      },
    ],
    ["if the queue has a limit", () => rig.operator().configure({ maxWorking: 5 })],
    ["if the queue has a rate", () => rig.operator().configure({ rate: { most: 1, per: "1s" } })],
    ["if the queue keeps statistics", () => rig.operator().configure({ statistics: true })],
    ["if the queue publishes events", () => rig.operator().configure({ events: true })],
    ["if the queue has a most pending", () => rig.operator().configure({ maxPending: 5 })],
    ["if the queue is paused", () => rig.operator().pause()],
    ["if a consumer was woken", () => rig.command("HSET", keys.tasks, "~wake", wake(START - 59_999, 0))],
    [
      "if a consumer has taken tasks within the window",
      () => rig.command("HSET", keys.tasks, "~wake", wake(START - 90_000, 31_000)),
    ],
    ["if an id is known", () => rig.queue().enqueue(1, { id: "id0" })],
    [
      "if an id is completed",
      async () => {
        await rig.queue().enqueue(1, { id: "id0" });
        await (await rig.queue().dequeue())[0]?.complete();
      },
    ],
    [
      "if an id is working under another token",
      async () => {
        await rig.queue().enqueue(1, { id: "id0" });
        await rig.queue().dequeue();
      },
    ],
  ])("%s", async (_, prepare) => {
    await prepareAgain(prepare);
    const { created, wake: wakes } = await byBothScripts(rig.transport, keys, two, args);
    const expected = await rig.keySpace();

    await prepareAgain(prepare);
    expect(await handOver(two)).toEqual({ created, wake: wakes, leases: [] });
    expect(await rig.keySpace()).toEqual(expected);
  });

  test("if an id is given twice", async () => {
    const twice = [...items(1), ...items(1)];
    expect(await handOver(twice)).toEqual({ created: [true, false], wake: true, leases: [] });
  });

  async function prepareAgain(prepare: () => Promise<unknown>) {
    await rig.command("FLUSHALL");
    fixChance();
    // A transport without the memory of the queue.
    rig.transport = { ...rig.transport };
    await prepare();
  }

  const wake = (sent: number, heard: number) => `${sent} ${sent + heard + 60_000} 60000`;
});
