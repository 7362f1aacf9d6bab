import {
  array,
  assert,
  asyncProperty,
  constant,
  constantFrom,
  integer,
  oneof,
  record,
  scheduler,
} from "fast-check";
import { describe, expect, test } from "vitest";
import { SluiceError, type Command, type CommandOutcome, type Transport } from "../../../src/index.ts";
import { copySettings } from "../../../src/queue/partitions/copy-settings.ts";
import { rebalanceShares } from "../../../src/queue/partitions/shares.ts";
import { callOf } from "../../../src/queue/redis/binding.ts";
import { putSharesScript } from "../../../src/queue/redis/partition-scripts.ts";
import { instances } from "../../support/instances.ts";
import { named } from "../../support/new-tasks.ts";
import { recorded } from "../../support/recorded.ts";
import { QUEUE, useRig } from "../../support/rig.ts";

const rig = useRig();
const { instance, over, operatorOf, queueOf, keysIn } = instances(rig);
const ALL = [0, 1, 2, 3];
const operator = () => operatorOf(4, rig.transport);
const queueHere = () => queueOf(4, rig.transport);

const ascending = (one: number, other: number) => one - other;
const sum = (all: readonly number[]) => all.reduce((total, one) => total + one, 0);

async function field(partition: number, name: string): Promise<string> {
  const value = await rig.command("HGET", keysIn(partition).tasks, name);
  return typeof value === "string" ? value : "";
}

/** A letter of the settings of each partition. */
const letters = (letter: string) =>
  Promise.all(ALL.map(async (at) => new RegExp(`;${letter}=([^;]*)`).exec(await field(at, "~set"))?.[1]));

const shares = async (letter = "m") =>
  (await letters(letter)).map((text) => Number(text?.split("/")[0] ?? Number.NaN));

async function working(): Promise<number> {
  const outcomes = await rig.transport.send(ALL.map((at) => ["ZCARD", keysIn(at).working] as const));
  return sum(outcomes.map((outcome) => ("reply" in outcome ? Number(outcome.reply) : Number.NaN)));
}

const rebalance = (
  transport = rig.transport,
  loads?: ReadonlyMap<number, { pending: number; working: number }>,
) => rebalanceShares({ name: QUEUE, prefix: undefined, transport }, ALL, { testNow: String(rig.now), loads });

async function loads() {
  const sizeOf = async (command: string, key: string) => Number(await rig.command(command, key));
  const found = ALL.map(async (at) => {
    const { pending, fair, working } = keysIn(at);
    const waiting = (await sizeOf("LLEN", pending)) + (await sizeOf("ZCARD", fair));
    return [at, { pending: waiting, working: await sizeOf("ZCARD", working) }] as const;
  });
  return new Map(await Promise.all(found));
}

/** The ids of some tasks that are all in that partition. */
function idsIn(partition: number, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `x${i}{${TAGS[partition]}}`);
}
const TAGS: Record<number, string> = {};

async function learnTags(): Promise<void> {
  for (let i = 0; Object.keys(TAGS).length < ALL.length; i++) {
    await queueHere().enqueue(0, { id: `tag{${i}}` });
    const found = await Promise.all(ALL.map(async (at) => (await field(at, `tag{${i}}`)) !== ""));
    TAGS[found.indexOf(true)] ??= String(i);
  }
  await operator().deleteQueue({ force: true });
}

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
    await rebalance();
    expect(await shares()).toEqual([2, 2, 2, 2]);
    expect(await operator().settings()).toMatchObject({ maxWorking: 8, events: true });
    // An operator that does not know of the partitions changes the limit of the whole queue too.
    expect(await rig.operator().configure({ maxWorking: 4 })).toMatchObject({ maxWorking: 4 });
    await rebalance();
    expect(await shares()).toEqual([1, 1, 1, 1]);
  });

  test("a share moves to where tasks wait, and as far as no task works under it", async () => {
    await learnTags();
    const queue = queueHere();
    await operator().configure({ maxWorking: 8 });
    await queue.enqueueMany(named(idsIn(1, 20)));
    await queue.enqueue(1, { id: `y{${TAGS[2]}}` });
    const other = await queue.dequeue({ max: 8 });
    let count = other.length;
    for (let i = 0; i < 6; i++) count += (await queue.dequeue({ max: 8 })).length;
    expect([count, await working()]).toEqual([3, 3]);
    await rebalance(rig.transport, await loads());
    expect(await shares()).toEqual([0, 7, 1, 0]);
    for (let i = 0; i < 6; i++) await queue.dequeue({ max: 8 });
    expect(await working()).toBe(8);
    await queue.enqueue(1, { id: `z{${TAGS[3]}}` });
    await rebalance(rig.transport, await loads());
    // All are in use: the next that ends is for partition 3.
    expect(await shares()).toEqual([0, 6, 1, 0]);
    await queue.settle(other.map(({ receipt }) => ({ receipt, outcome: "complete" as const })));
    await rebalance(rig.transport, await loads());
    expect((await shares())[3]).toBe(1);
    expect(sum(await shares())).toBe(8);
  });

  test("no partition starves: a limit below the number of partitions goes round", async () => {
    await learnTags();
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
      await rebalance(rig.transport, await loads());
    }
    expect(order.toSorted(ascending)).toEqual([0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]);
    // The partition that had the share at first may keep it for one task more.
    for (let i = 0; i < 4; i++) expect(new Set(order.slice(i, i + 5)).size).toBe(4);
  });

  test("a share of a rate is free for others when its period is over", async () => {
    await learnTags();
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
    await Promise.all([6, 7, 8, 9].map((i) => together.enqueue(i)));
    expect(await queueHere().enqueueMany([{ payload: 10 }])).toMatchObject([{ created: true }]);
    const waiting = [...(await loads()).values()].map(({ pending }) => pending);
    expect(waiting.toSorted(ascending)).toEqual([1, 3, 3, 3]);
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
    expect(pending).toBeGreaterThanOrEqual(10);
    for (let i = pending; i < 12; i++) await queue.enqueue(i);
    await expect(queue.enqueue(1)).rejects.toMatchObject({ code: "queue_full" });
    await expect(together.enqueue(1)).rejects.toMatchObject({ code: "queue_full" });
    expect((await queue.counts()).pending).toBe(12);
  });

  test("cost one command if the shares fit, and nothing is written", async () => {
    const queue = queueHere();
    await queue.enqueue(1);
    const sent: unknown[] = [];
    const counting = instance((_, commands) => sent.push(...commands));
    await rebalance(counting, await loads());
    expect(sent).toHaveLength(1);
    await operator().configure({ maxWorking: 8, maxPending: 100 });
    sent.length = 0;
    await rebalance(counting, await loads());
    expect(sent).toHaveLength(1);
  });

  test("hold again after a failover that has set the shares back", async () => {
    await learnTags();
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

  test("hold in new partitions before these own slots, as all settings of the queue and its groups", async () => {
    const copy = (transport = rig.transport) =>
      copySettings({ name: QUEUE, prefix: undefined, transport }, ALL, [2, 3], { testNow: String(rig.now) });
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
    await learnTags();
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
    await rig.command("HSET", keysIn(1).tasks, "~set", "2;m=1");
    await rig.command("HDEL", keysIn(0).tasks, "~shares");
    await expect(rebalance()).rejects.toMatchObject({ code: "newer_schema" });
    expect(await field(1, "~set")).toBe("2;m=1");
  });

  test("never allow more in all, whatever happens in which order", async () => {
    await learnTags();
    const action = oneof(
      { weight: 4, arbitrary: record({ do: constant("enqueue"), at: constantFrom(...ALL) }) },
      { weight: 5, arbitrary: record({ do: constant("dequeue"), max: integer({ min: 1, max: 5 }) }) },
      { weight: 3, arbitrary: record({ do: constant("settle") }) },
      {
        weight: 3,
        arbitrary: record({ do: constant("rebalance"), dies: constantFrom(2, 4, 7, 8, 99, 99, 99) }),
      },
      { weight: 1, arbitrary: record({ do: constant("configure"), most: integer({ min: 1, max: 9 }) }) },
    );
    await assert(
      asyncProperty(array(action, { minLength: 20, maxLength: 60 }), scheduler(), async (actions, s) => {
        await rig.command("FLUSHALL");
        // A new transport, which does not remember the partitions of the run before.
        const { send } = rig.transport;
        rig.transport = { send };
        let limit = 4;
        // Tasks that work under an earlier, higher limit may go on.
        let allowed = 4;
        let n = 0;
        const held: string[] = [];
        const faults: string[] = [];
        const late: Promise<unknown>[] = [];
        const transport = (dies = 99): Transport => {
          let left = dies;
          const one = async (command: Command) => {
            await s.schedule(Promise.resolve());
            if (left-- <= 0) throw new SluiceError("redis_unreachable", "the process has died");
            const leases = "script" in command && /dequeue/i.test(command.script.name);
            const before = leases ? await working() : 0;
            const [outcome] = await rig.transport.send([command]);
            const after = leases ? await working() : 0;
            if (after > before && after > allowed) faults.push(`${after} of ${limit} work`);
            return outcome as CommandOutcome;
          };
          return {
            // Other calls come between the commands of a request, and late copies of them after it.
            send: async (commands) => {
              const outcomes: CommandOutcome[] = [];
              for (const command of commands) {
                outcomes.push(await one(command));
                if ("script" in command && command.script.name === "setShares") {
                  late.push(s.schedule(Promise.resolve()).then(() => rig.transport.send([command])));
                }
              }
              return outcomes;
            },
          };
        };
        await queueHere().enqueue(0, { id: `first{${TAGS[0]}}` });
        await operator().configure({ maxWorking: limit });
        const act = async (one: (typeof actions)[number]) => {
          if (one.do === "enqueue") {
            const ids = [0, 1, 2].map(() => `n${n++}{${TAGS[one.at]}}`);
            await queueOf(4, transport()).enqueueMany(named(ids));
          } else if (one.do === "dequeue") {
            const tasks = await queueOf(4, transport()).dequeue({ max: one.max });
            held.push(...tasks.map(({ receipt }) => receipt));
          } else if (one.do === "settle") {
            const settlements = held
              .splice(0, 2)
              .map((receipt) => ({ receipt, outcome: "complete" as const }));
            if (settlements.length > 0) await queueOf(4, transport()).settle(settlements);
          } else if (one.do === "rebalance") {
            await rebalance(transport(one.dies), undefined).catch((error: unknown) => {
              if (one.dies === 99) throw error;
            });
          } else {
            // Until the call returns, either limit may hold.
            allowed = Math.max(limit, one.most, allowed);
            await operatorOf(4, transport()).configure({ maxWorking: one.most });
            limit = (await operator().settings()).maxWorking ?? 0;
          }
        };
        await s.waitFor(Promise.all(actions.map(act)));
        await s.waitFor(Promise.all(late));
        expect(faults).toEqual([]);
        await rebalance();
        await rebalance();
        expect(sum(await shares())).toBeLessThanOrEqual(limit);
        // At rest the limit is exact.
        allowed = limit;
        await s.waitFor(act({ do: "dequeue", max: 5 }));
        expect(faults).toEqual([]);
      }),
      // The same runs each time, so that a failure comes from a change of the code.
      { numRuns: 60, seed: 20_261_130 },
    );
  }, 120_000);
});
