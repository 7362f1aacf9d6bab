import { afterEach, describe, expect, test, vi } from "vitest";
import { Queue, sweep, type EnqueueOptions } from "../../src/index.ts";
import { callOf } from "../../src/kernel/scripts/binding.ts";
import { unregisterScript } from "../../src/kernel/scripts/unregister-scripts.ts";
import { key, QUEUE, START, useRig } from "../support/rig.ts";

const rig = useRig();
afterEach(() => vi.restoreAllMocks());

const swept = () => sweep(rig.transport, { now: () => rig.now });
const registry = async () => (await rig.keySpace())["sluice:queues"];

/** The keys that may hold entries, and the options of a task that is then in one of them. */
const places: readonly (readonly [place: string, options: EnqueueOptions])[] = [
  ["pending", {}],
  ["fair", { group: "g" }],
  ["delayed", { delay: "2h" }],
  ["working", {}],
  ["expiry", { resultTtl: "2h" }],
];

async function fill(place: string, options: EnqueueOptions): Promise<void> {
  await rig.queue().enqueue(1, options);
  if (place !== "working" && place !== "expiry") return;
  const [task] = await rig.queue().dequeue({ token: "token-0002", lease: "2h" });
  if (place === "expiry") await task?.complete("result");
}

describe("the registry", () => {
  test("a queue is registered before its first task, then at most once a minute per instance", async () => {
    const queue = rig.queue();
    await queue.enqueue(1);
    rig.now += 5_000;
    await queue.enqueue(1);
    await rig.queue().enqueue(1);
    expect(await registry()).toEqual({ zset: [[QUEUE, START]] });
  });

  test("a Redis clock that jumps back does not move a registration back", async () => {
    const queue = () => rig.queue({ transport: { send: rig.transport.send } });
    await queue().enqueue(1);
    rig.now -= 3_600_000;
    await queue().enqueue(1);
    expect(await registry()).toEqual({ zset: [[QUEUE, START]] });
  });

  test.each(places)("a queue that holds only entries in %s stays registered", async (place, options) => {
    await fill(place, options);
    for (let minutes = 0; minutes < 90; minutes += 10) {
      rig.now += 600_000;
      await swept();
      expect(await registry()).toEqual({ zset: [[QUEUE, rig.now]] });
    }
    expect(Object.keys(await rig.keySpace())).toContain(key(place));
  });

  test("queues leave it after an hour of being empty, except those registered again since", async () => {
    for (const name of ["a", "b", "c"]) {
      const queue = new Queue(name, { transport: rig.transport, now: () => rig.now });
      await queue.enqueue(1, { resultTtl: 0 });
      await (await queue.dequeue())[0]?.complete();
    }
    rig.now += 300_000;
    expect(await swept()).toMatchObject({ expired: 3 });
    rig.now += 4_200_000;
    await rig.queue({ transport: { send: rig.transport.send } }).enqueue(1);
    // A late copy of a sweep's request: by now the queue is in use again.
    const args = { since: String(rig.now - 1) };
    const late = callOf(unregisterScript, { queues: "sluice:queues" }, args, [{ queue: QUEUE }]);
    expect(await rig.transport.send([late])).toEqual([{ reply: ["ok", 0] }]);
    await swept();
    expect(await registry()).toEqual({ zset: [[QUEUE, rig.now]] });
  });

  /** What the queue's hash remembers of dequeues. */
  const slots = async () =>
    [...(await rig.space()).tasks.entries()].filter(([field]) => /^~r\d+$/i.test(field));

  test("with it go the slots of a queue's dequeues, and nothing else that a later task needs", async () => {
    const queue = rig.queue();
    const operator = rig.operator();
    await operator.configure({ statistics: true, maxPending: 5_000 });
    for (let i = 0; i < 40; i++) {
      await queue.enqueue(i, { resultTtl: 0 });
      const token = `token${i.toString(36).padStart(6, "0")}`;
      await (await queue.dequeue({ token, max: i % 2 ? 1 : 1_000 }))[0]?.complete();
    }
    rig.now += 300_000;
    await swept();
    expect((await slots()).length).toBeGreaterThan(20);
    const { tasks } = await rig.space();
    rig.now += 3_800_000;
    await swept();
    expect((await slots()).length).toBeGreaterThan(20);
    rig.now += 100_000;
    await swept();
    expect(await rig.keySpace()).not.toHaveProperty(["sluice:queues"]);
    const others = new Map([...tasks].filter(([field]) => !/^~r\d+$/i.test(field)));
    expect((await rig.space()).tasks).toEqual(others);
    expect((await rig.space()).tasks.get("~lease")).toBe("40");
    await rig.queue({ transport: { send: rig.transport.send } }).enqueue("next");
    expect((await queue.dequeue())[0]?.receipt).toMatch(/^1\.1\.41\./);
  });

  test.each(places)(
    "the slots stay if the queue holds entries in %s again when the sweep removes them",
    async (place, options) => {
      const send: typeof rig.transport.send = async (commands, given) => {
        const isLast = commands.some((one) => "script" in one && one.script.name === "forgetDequeues");
        if (isLast) await fill(place, options);
        return rig.transport.send(commands, given);
      };
      await rig.queue().enqueue(1, { resultTtl: 0 });
      await (await rig.queue().dequeue({ token: "token-0001" }))[0]?.complete();
      rig.now += 300_000;
      await swept();
      rig.now += 4_200_000;
      const before = await slots();
      expect(before).toHaveLength(1);
      await sweep({ send }, { now: () => rig.now });
      expect(await slots()).toEqual(expect.arrayContaining(before));
      expect(Object.keys(await rig.keySpace())).toContain(key(place));
    },
  );

  test("an instance registers a queue again after a minute, and if its own clock jumped back", async () => {
    const clock = vi.spyOn(Date, "now").mockReturnValue(START);
    const queue = rig.queue();
    await queue.enqueue(1);
    await rig.command("DEL", "sluice:queues");
    clock.mockReturnValue(START + 59_999);
    await queue.enqueue(2);
    expect(await rig.keySpace()).not.toHaveProperty(["sluice:queues"]);
    clock.mockReturnValue(START + 60_000);
    await queue.enqueue(2);
    expect(await registry()).toEqual({ zset: [[QUEUE, START]] });
    await rig.command("DEL", "sluice:queues");
    clock.mockReturnValue(START - 3_600_000);
    await queue.enqueue(3);
    expect(await registry()).toEqual({ zset: [[QUEUE, START]] });
  });
});
