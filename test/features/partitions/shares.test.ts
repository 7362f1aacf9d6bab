import { describe, expect, test } from "vitest";
import { type Command, SluiceError, type Transport } from "../../../src/index.ts";
import { copySettings } from "../../../src/features/partitions/copy-settings.ts";
import { callOf } from "../../../src/kernel/scripts/binding.ts";
import { putSharesScript } from "../../../src/features/partitions/upkeep-scripts.ts";
import { instances } from "../../support/instances.ts";
import { named } from "../../support/new-tasks.ts";
import { recorded } from "../../support/recorded.ts";
import { QUEUE, useRig } from "../../support/rig.ts";
import { ALL, idsIn, sharing, sum, TAGS } from "./sharing.ts";

const rig = useRig();
const { instance, over, operatorOf, queueOf, keysIn } = instances(rig);
const { field, letters, shares, working, loads, rebalance } = sharing(rig);
const operator = () => operatorOf(4, rig.transport);
const queueHere = () => queueOf(4, rig.transport);
const ascending = (one: number, other: number) => one - other;

describe("limits of a queue with partitions", () => {
  test("are shared evenly at first, and read as those of the whole queue", async () => {
    const limits = { maxWorking: 10, rate: { most: 6, per: 1_000 }, maxPending: 3 };
    expect(await operator().configure(limits)).toMatchObject(limits);
    expect(await operator().settings()).toMatchObject(limits);
    const all = [await shares("m"), await shares("r"), await shares("b")];
    expect(all.map((some) => some.toSorted(ascending))).toEqual([
      [2, 2, 3, 3],
      [1, 1, 2, 2],
      [0, 1, 1, 1],
    ]);
    const none = { maxWorking: null, rate: null, maxPending: null };
    expect(await operator().configure(none)).toMatchObject(none);
    for (const letter of ["m", "r", "b"]) expect(await letters(letter)).toEqual(Array(4).fill(undefined));
  });

  test("from before the queue had partitions become those of the whole queue", async () => {
    await rig.operator().configure({ maxWorking: 8, events: true });
    expect((await queueHere().counts()).pending).toBe(0);
    // No task waits, so no consumer is woken.
    expect(await rebalance(rig.transport, "60000")).toBe(false);
    expect(await shares()).toEqual([2, 2, 2, 2]);
    expect(await operator().settings()).toMatchObject({ maxWorking: 8, events: true });
    // An operator that does not know of the partitions changes the limit of the whole queue too.
    expect(await rig.operator().configure({ maxWorking: 4 })).toMatchObject({ maxWorking: 4 });
    await rebalance();
    expect(await shares()).toEqual([1, 1, 1, 1]);
  });

  test("a share moves to where tasks wait, and as far as no task works under it", async () => {
    const queue = queueHere();
    await operator().configure({ maxWorking: 8 });
    await queue.enqueueMany(named(idsIn(1, 20)));
    await queue.enqueue(1, { id: `y{${TAGS[2]}}` });
    const other = await queue.dequeue({ max: 8 });
    let count = other.length;
    for (let i = 0; i < 6; i++) count += (await queue.dequeue({ max: 8 })).length;
    expect([count, await working()]).toEqual([3, 3]);
    expect(await rebalance(rig.transport, "60000")).toBe(true);
    expect(await shares()).toEqual([0, 7, 1, 0]);
    for (let i = 0; i < 6; i++) await queue.dequeue({ max: 8 });
    expect(await working()).toBe(8);
    await queue.enqueue(1, { id: `z{${TAGS[3]}}` });
    await rebalance();
    // All are in use: the next that ends is for partition 3.
    expect(await shares()).toEqual([0, 6, 1, 0]);
    await queue.settle(other.map(({ receipt }) => ({ receipt, outcome: "complete" as const })));
    await rebalance();
    expect((await shares())[3]).toBe(1);
    expect(sum(await shares())).toBe(8);
  });

  test("no partition starves: a limit below the number of partitions goes round", async () => {
    const queue = queueHere();
    await operator().configure({ maxWorking: 1 });
    for (const at of ALL) {
      for (const id of idsIn(at, 3)) await queue.enqueue(at, { id });
    }
    const order: number[] = [];
    for (let i = 0; i < 30; i++) {
      const [task] = await queue.dequeue({ max: 5 });
      if (task) order.push(task.payload as number);
      await task?.complete();
      rig.now += 60_000;
      await rebalance();
    }
    expect(order.toSorted(ascending)).toEqual([0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]);
    // The partition that had the share at first may keep it for one task more.
    for (let i = 0; i < 4; i++) expect(new Set(order.slice(i, i + 5)).size).toBe(4);
  });

  test("a share of a rate is free for others when its period is over", async () => {
    const queue = queueHere();
    await operator().configure({ rate: { most: 4, per: "10s" } });
    const first = idsIn(0, 1);
    for (const id of [...first, ...idsIn(1, 20)]) await queue.enqueue(1, { id });
    const take = async () => {
      let count = 0;
      for (let i = 0; i < 8; i++) count += (await queue.dequeue({ max: 8 })).length;
      return count;
    };
    expect(await take()).toBe(2);
    await rebalance();
    expect(await shares("r")).toEqual([1, 3, 0, 0]);
    expect(await take()).toBe(2);
    rig.now += 5_000;
    await rebalance();
    expect(await take()).toBe(0);
    rig.now += 12_000;
    await rebalance();
    expect(await shares("r")).toEqual([0, 4, 0, 0]);
    expect(await take()).toBe(4);
  });

  test("a limit of pending tasks is used up in all partitions before a task without a slot is refused", async () => {
    await operator().configure({ maxPending: 12 });
    // An instance that calls one after the other, then one whose calls share a request, then one with a batch.
    const queue = queueHere();
    for (let i = 0; i < 5; i++) expect(await queue.enqueue(i)).toMatchObject({ created: true });
    const together = rig.queue({ ...over(rig.transport), coalesce: "turn" });
    // More than one of these finds no room in the first partition.
    await Promise.all([6, 7, 8, 9, 10].map((i) => together.enqueue(i)));
    expect(await queueHere().enqueueMany([{ payload: 11 }])).toMatchObject([{ created: true }]);
    const waiting = [...(await loads()).values()].map(({ pending }) => pending);
    expect(waiting.toSorted(ascending)).toEqual([2, 3, 3, 3]);
    // No partition has room for three.
    const three = [1, 2, 3].map((payload) => ({ payload }));
    await expect(queue.enqueueMany(three)).rejects.toMatchObject({ code: "queue_full" });
    await expect(queue.enqueueMany([{ payload: 1, group: "g" }, ...three])).rejects.toMatchObject({
      code: "queue_full",
    });
    await expect(queueHere().enqueueMany(undefined as never)).rejects.toMatchObject({
      code: "invalid_argument",
    });
    const { pending } = await queue.counts();
    expect(pending).toBeGreaterThanOrEqual(11);
    for (let i = pending; i < 12; i++) await queue.enqueue(i);
    await expect(queue.enqueue(1)).rejects.toMatchObject({ code: "queue_full" });
    await expect(together.enqueue(1)).rejects.toMatchObject({ code: "queue_full" });
    expect((await queue.counts()).pending).toBe(12);
  });

  test("cost one command without limits, and one more for each partition if the shares fit", async () => {
    const queue = queueHere();
    await queue.enqueue(1);
    const sent: unknown[] = [];
    const counting = instance((_, commands) => sent.push(...commands));
    await rebalance(counting);
    expect(sent).toHaveLength(1);
    await operator().configure({ maxWorking: 8, maxPending: 100 });
    const stored = await field(0, "~shares");
    sent.length = 0;
    await rebalance(counting);
    expect(sent).toHaveLength(1 + ALL.length);
    expect(await field(0, "~shares")).toBe(stored);
  });

  test("hold again after a failover that has set the shares back", async () => {
    await operator().configure({ maxWorking: 8 });
    const old = await field(0, "~shares");
    await queueHere().enqueueMany(named(idsIn(3, 9)));
    await rebalance();
    expect(await shares()).toEqual([0, 0, 0, 8]);
    await rig.command("HSET", keysIn(0).tasks, "~shares", old);
    await rebalance();
    expect(sum(await shares())).toBe(8);
    expect((await letters("v")).every((version) => version === /^1;(\d+);/.exec(old)?.[1])).toBe(false);
    expect(new Set(await letters("v")).size).toBe(1);
  });

  test("hold again after such a failover, although a partition fails while another answers with later shares", async () => {
    await operator().configure({ maxWorking: 8 });
    const old = await field(0, "~shares");
    await queueHere().enqueueMany(named(idsIn(3, 9)));
    await rebalance();
    await rig.command("HSET", keysIn(0).tasks, "~shares", old);
    let failures = 0;
    const failing: Transport = {
      async send(commands, options) {
        const outcomes = await rig.transport.send(commands, options);
        const isSet = commands.every((one) => "script" in one && one.script.name === "setShares");
        if (!isSet || failures++ > 0) return outcomes;
        const error = new SluiceError("redis_error", "OOM command not allowed");
        return [...outcomes.slice(0, -1), { error }];
      },
    };
    await rebalance(failing);
    expect(failures).toBeGreaterThan(1);
    expect(sum(await shares())).toBe(8);
    expect(await letters("v")).toEqual(Array(4).fill(/^1;(\d+);1;/.exec(await field(0, "~shares"))?.[1]));
  });

  test("hold in new partitions before these own slots, as all settings of the queue and its groups", async () => {
    const copy = (transport = rig.transport) =>
      copySettings({ name: QUEUE, transport, now: () => rig.now }, ALL, [2, 3]);
    const { transport, requests } = recorded(rig);
    const two = operatorOf(2, rig.transport);
    await queueOf(2, rig.transport).enqueue(1);
    // Without settings of groups, no record is read.
    await copy(transport);
    expect(requests.flat().map((command) => ("script" in command ? "" : command[0]))).not.toContain("HSCAN");
    await two.configureGroup("light", { weight: 4 });
    await copy();
    expect([await field(2, "~s:light"), await field(3, "~s:light")]).toEqual(["1;k=4", "1;k=4"]);
    await two.configure({ maxWorking: 9, statistics: true });
    await two.configureGroup("g", { maxWorking: 3, weight: 4 });
    await two.pause();
    await copy();
    expect((await shares()).toSorted(ascending)).toEqual([2, 2, 2, 3]);
    expect([await letters("p"), await letters("s")]).toEqual([Array(4).fill("1"), Array(4).fill("1")]);
    const groups = await Promise.all(ALL.map((at) => field(at, "~s:g")));
    expect(groups).toEqual(Array(4).fill("1;k=4;m=3;n=1"));
    expect(await letters("M")).toEqual(["9", undefined, undefined, undefined]);
  });

  test("are written by one of several callers, and late copies of older ones change nothing", async () => {
    const noted: Command[] = [];
    const recording = instance((_, commands) =>
      noted.push(...commands.filter((one) => "script" in one && one.script.name === "setShares")),
    );
    await operatorOf(4, recording).configure({ maxWorking: 8 });
    await queueHere().enqueueMany(named(idsIn(3, 9)));
    // Another caller moves the shares between a caller's reads and its write.
    let others = 0;
    const interrupted = instance(async (_, commands) => {
      const writes = commands.some((one) => "script" in one && one.script.name === "putShares");
      if (writes && others++ === 0) await rebalance();
    });
    await rebalance(interrupted);
    expect([others > 0, await shares()]).toEqual([true, [0, 0, 0, 8]]);
    const stored = await field(0, "~shares");
    const put = callOf(putSharesScript, keysIn(0), { was: "", shares: "1;7;1;0" });
    expect(await rig.transport.send([put])).toEqual([{ reply: ["ok", stored] }]);
    expect(await field(0, "~shares")).toBe(stored);
    expect(noted.length).toBeGreaterThan(4);
    for (const outcome of await rig.transport.send(noted)) {
      expect(outcome).toMatchObject({ reply: ["older", Number((await letters("v"))[0])] });
    }
    expect(await shares()).toEqual([0, 0, 0, 8]);
  });

  test("of a newer release are not changed (law 12)", async () => {
    await operator().configure({ maxWorking: 8 });
    await rig.command("HSET", keysIn(0).tasks, "~shares", "2;x");
    await expect(rebalance()).rejects.toMatchObject({ code: "newer_schema" });
    const call = callOf(putSharesScript, keysIn(0), { was: "2;x", shares: "1;7;1;0" });
    expect(await rig.transport.send([call])).toEqual([{ reply: ["newer_schema"] }]);
    expect(await field(0, "~shares")).toBe("2;x");
    await rig.command("HSET", keysIn(1).tasks, "~set", "3;m=1");
    await rig.command("HDEL", keysIn(0).tasks, "~shares");
    await expect(rebalance()).rejects.toMatchObject({ code: "newer_schema" });
    expect(await field(1, "~set")).toBe("3;m=1");
  });
});
