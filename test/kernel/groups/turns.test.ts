import { beforeEach, describe, expect, test } from "vitest";
import { Queue } from "../../../src/index.ts";
import { dice } from "../../support/dice.ts";
import { idsOf } from "../../support/leasing.ts";
import { recorded } from "../../support/recorded.ts";
import { key, QUEUE, useRig } from "../../support/rig.ts";

const rig = useRig();
let queue: Queue;
beforeEach(() => void (queue = rig.queue()));

const many = (group: string, from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => ({ payload: 0, group, id: `${group}${from + i}` }));

/** Dequeues in batches until nothing is left, or so many were delivered. */
async function drain(max: number, count = Number.POSITIVE_INFINITY): Promise<string[]> {
  const order: string[] = [];
  while (order.length < count) {
    const batch = await queue.dequeue({ max });
    if (batch.length === 0) break;
    order.push(...idsOf(batch));
  }
  return order;
}

const ofSmall = (ids: readonly string[]) => ids.filter((id) => id.startsWith("small"));

/** After how many deliveries the last of the ten tasks in the small group came. */
async function endOfTen(max: number): Promise<number> {
  const order = await drain(max, 200);
  expect(ofSmall(order)).toHaveLength(10);
  return order.findLastIndex((id) => id.startsWith("small")) + 1;
}

/** Enqueues a large group, and a small one beside it. */
async function beside(count: number): Promise<void> {
  await queue.enqueueMany(many("large", 0, 1_000));
  await queue.enqueueMany(many("small", 0, count));
}

/** Cancels the tasks of the small group with these numbers, in this order. */
async function cancelSmall(numbers: readonly number[]): Promise<void> {
  for (const i of numbers) await queue.cancel(`small${i}`);
}

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);

describe("tasks behind one that leaves its group's line move up", () => {
  test.each([1, 7, 100, 200])(
    "if it is cancelled from the front, and tasks are dequeued %i at a time",
    async (max) => {
      await beside(100);
      await cancelSmall(upTo(90));
      expect(await endOfTen(max)).toBe(20);
    },
  );

  test("in a line far longer than one call moves up", async () => {
    await beside(900);
    await cancelSmall(upTo(900).filter((i) => i % 3 !== 0));
    const order = await drain(100, 600);
    const small = order.flatMap((id, place) => (id.startsWith("small") ? [place] : []));
    expect(small).toHaveLength(300);
    for (const [i, place] of small.entries()) expect(Math.abs(place - 2 * i)).toBeLessThanOrEqual(1);
  });

  test("if tasks are purged in part, also if the purge ends in the middle", async () => {
    await queue.enqueueMany(many("small", 0, 500));
    rig.now += 1_000;
    await queue.enqueueMany(many("small", 500, 510));
    await queue.enqueueMany(many("large", 0, 1_000));
    const filter = { state: "pending", group: "small", enqueuedUntil: rig.now } as const;
    let cursor: string | null | undefined;
    let purged = 0;
    for (let calls = 0; cursor !== null; calls++) {
      expect(calls).toBeLessThan(60);
      const page = await rig.operator().purge({ ...filter, limit: 90, ...(cursor && { cursor }) });
      [purged, cursor] = [purged + page.purged, page.cursor];
      if (calls === 2) {
        const [next, other] = await queue.dequeue({ max: 2 });
        expect(new Set([next?.id, other?.id])).toEqual(new Set(["large0", "small270"]));
      }
    }
    expect(purged).toBe(499);
    expect(await endOfTen(100)).toBe(20);
  });

  test("if a purge removes tasks before and behind one at once", async () => {
    const enqueuedUntil = rig.now + 1;
    await queue.enqueueMany([...many("small", 0, 1), { ...many("small", 2, 3)[0]!, delay: 2 }]);
    rig.now += 1;
    await queue.enqueueMany(many("small", 1, 2));
    rig.now += 1;
    await rig.sweepOnce();
    await queue.enqueueMany([...many("small", 3, 4), ...many("large", 0, 4)]);
    expect(await rig.operator().purge({ state: "pending", group: "small", enqueuedUntil })).toMatchObject({
      purged: 2,
    });
    const order = await drain(1);
    expect(ofSmall(order.slice(0, 2))).toEqual(["small1"]);
    expect(ofSmall(order.slice(2, 4))).toEqual(["small3"]);
  });

  test("and the held tasks of a limit come in behind them", async () => {
    await rig.operator().configureGroup("small", { maxWorking: 20 });
    await beside(60);
    await cancelSmall(upTo(15));
    expect(ofSmall(idsOf(await queue.dequeue({ max: 40 })))).toEqual(idsOf(many("small", 15, 35)));
  });

  test("by the cost at the current weight, if the group's weight has changed", async () => {
    await queue.enqueueMany(many("a", 0, 20));
    await rig.operator().configureGroup("a", { weight: 10 });
    const { fair: before } = await rig.space();
    await queue.cancel("a0");
    const { fair: after } = await rig.space();
    const moved = Array.from(after, ([id, score]) => (before.get(id) ?? 0) - score);
    expect(moved).toEqual(Array.from({ length: 19 }, () => 2_520));
  });

  test("and a leftover turn of a removed task adds nothing to the line", async () => {
    await queue.enqueueMany(many("a", 0, 3));
    const left = [...(await rig.space()).fairByGroup.keys()].filter((turn) => turn.endsWith(" a2"));
    await queue.cancel("a2");
    await rig.command("ZADD", key("fair-by-group"), "0", ...left);
    await queue.cancel("a0");
    const { fair, fairByGroup } = await rig.space();
    expect([...fair.keys()]).toEqual(["a1"]);
    await rig.command(
      "ZREM",
      key("fair-by-group"),
      ...[...fairByGroup.keys()].filter((turn) => turn.endsWith(" a2")),
    );
  });

  test("but not behind one that was handed back and then cancelled, which has had its turn", async () => {
    await beside(10);
    const small = (await queue.dequeue({ max: 6 })).filter(({ group }) => group === "small");
    for (const task of small) await task.requeue({ unstarted: true });
    for (const { id } of small) await queue.cancel(id);
    expect(ofSmall(idsOf(await queue.dequeue({ max: 6 })))).toHaveLength(3);
  });
});

describe("moving up is bounded", () => {
  const groups = upTo(20).map((i) => `g${i}x`);

  test("a group is purged in few calls, also with many other tasks in between", async () => {
    for (const group of groups) await queue.enqueueMany(many(group, 0, group === "g7x" ? 1_000 : 300));
    const { transport, requests } = recorded(rig);
    const purge = rig.operator({ transport }).purge({ state: "pending", group: "g7x" });
    expect(await purge).toMatchObject({ purged: 1_000 });
    expect(requests.length).toBeLessThanOrEqual(8);
    expect((await queue.counts()).pending).toBe(19 * 300);
  });

  test("a task that leaves far behind the front moves no other", async () => {
    await queue.enqueueMany(many("a", 0, 900));
    await queue.cancel("a0");
    const { fair: before } = await rig.space();
    await queue.cancel("a800");
    before.delete("a800");
    expect((await rig.space()).fair).toEqual(before);
  });

  test("if many groups move at once, a hundred tasks of each do, and the rest at their turns", async () => {
    for (const group of groups) await queue.enqueueMany(many(group, 0, 300));
    for (const group of groups) await queue.cancel(`${group}0`);
    const turns = async () => (await rig.command("ZRANGE", key("fair-by-group"), "0", "-1")) as string[];
    const order: string[] = [];
    let most = 0;
    let now = await turns();
    for (let taken = 200; taken > 0;) {
      const before = new Set(now);
      const batch = await queue.dequeue({ max: 200 });
      now = await turns();
      const moved = now.filter((turn) => !before.has(turn));
      most = Math.max(most, moved.length);
      order.push(...idsOf(batch));
      taken = batch.length;
    }
    expect(order).toHaveLength(20 * 299);
    expect(most).toBeGreaterThan(1_800);
    // A hundred of each group, and the turns of the 200 tasks that were dequeued.
    expect(most).toBeLessThanOrEqual(2_000 + 200);
    for (let round = 0; round < 299; round++) {
      const turn = order.slice(20 * round, 20 * round + 20);
      expect(new Set(turn)).toEqual(new Set(groups.map((group) => `${group}${round + 1}`)));
    }
  });

  test("a group whose state was rolled back gets no turn twice", async () => {
    for (const group of ["a", "b"]) await queue.enqueueMany(many(group, 0, 1_000));
    await queue.cancel("a0");
    for (let i = 0; i < 5; i++) await queue.dequeue({ max: 100 });
    const state = (await rig.space()).tasks.get("~g:a") ?? "";
    expect(state).toMatch(/;0=\d+,\d+,\d+$/);
    await rig.command("HSET", key("tasks"), "~g:a", state.replace(/\d+$/, "25200"));
    const order = await drain(100);
    for (let n = 100; n <= 1_200; n += 100) {
      const ofA = order.slice(0, n).filter((id) => id.startsWith("a")).length;
      expect(Math.abs(ofA - n / 2)).toBeLessThanOrEqual(100);
    }
  });
});

/** Two queues: only one gets the tasks that are cancelled before their turn. */
test.each([1, 2, 3, 4])("cancelled tasks change the order of the others in no way (%i)", async (seed) => {
  const roll = dice(seed);
  const pick = (count: number) => Math.floor(roll() * count);
  const queues = [rig.queue(), new Queue("twin", { transport: rig.transport, now: () => rig.now })] as const;
  const weights: Record<string, number> = { a: 1, b: 2, c: 5, d: 1 };
  for (const [group, weight] of Object.entries(weights)) {
    for (const name of [QUEUE, "twin"])
      await rig.command("HSET", `sluice:{${name}}:tasks`, `~s:${group}`, `1;k=${weight}`);
  }
  /** The tasks in line, by group and priority, and whether each is to be cancelled before its turn. */
  const lines = new Map<string, { id: string; doomed: boolean }[]>();
  let count = 0;
  const enqueue = async (size: number) => {
    const tasks = Array.from({ length: size }, () => {
      const [group, priority] = ["abcd".charAt(pick(4)), pick(8) === 0 ? 3 : 0];
      const id = `${group}${(count++).toString().padStart(6, "0")}`;
      const doomed = roll() < (group === "a" ? 0.8 : 0.3);
      const line = lines.get(`${group}${priority}`) ?? [];
      lines.set(`${group}${priority}`, [...line, { id, doomed }]);
      return { payload: 0, group, priority, id, doomed };
    });
    await queues[0].enqueueMany(tasks.map(({ doomed: _, ...task }) => task));
    await queues[1].enqueueMany(tasks.flatMap(({ doomed, ...task }) => (doomed ? [] : [task])));
  };
  /** Cancels all doomed tasks among the next `next`, and some of the others. */
  const clear = async (next: number) => {
    for (const [key, line] of lines) {
      const kept = [];
      for (const task of line) {
        if (task.doomed && (kept.length < next || pick(4) === 0)) await queues[0].cancel(task.id);
        else kept.push(task);
      }
      lines.set(key, kept);
    }
  };
  const deliver = async (max: number) => {
    await clear(max);
    const [one, other] = [idsOf(await queues[0].dequeue({ max })), idsOf(await queues[1].dequeue({ max }))];
    // A batch ends early if the next task of a group has to move up first.
    one.push(...(one.length < other.length ? idsOf(await queues[0].dequeue({ max: max - one.length })) : []));
    expect(one).toEqual(other);
    for (const [key, line] of lines) {
      lines.set(
        key,
        line.filter(({ id }) => !one.includes(id)),
      );
    }
    return one.length;
  };
  await enqueue(1_000);
  await enqueue(1_000);
  for (let step = 0; step < 30; step++) {
    if (pick(3) === 0) await enqueue(1 + pick(60));
    else await deliver(1 + pick(25));
  }
  await clear(Number.POSITIVE_INFINITY);
  while ((await deliver(60)) > 0);
  expect((await queues[0].counts()).pending).toBe(0);
});
