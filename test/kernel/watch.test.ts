import { beforeEach, describe, expect, test } from "vitest";
import { type Queue, SluiceError, type Transport } from "../../src/index.ts";
import { START, useRig } from "../support/rig.ts";
import { all, counted, hanging, listen, short, stepwise } from "../support/watching.ts";
import { dice } from "../support/dice.ts";

const rig = useRig();
let queue: Queue;
beforeEach(() => void (queue = rig.queue()));

/** A watch of a new task `a` that has reported its first event. */
async function begun(of = queue) {
  await of.enqueue(1, { id: "a" });
  const watch = stepwise(of.watch("a", { every: 10 }));
  expect(await watch.next()).toEqual({ event: "transition", version: 1, to: "pending", at: rig.now });
  return watch;
}

describe("watch", () => {
  test("reports the whole life, from delay to progress, cancellation and end, each event once and in order", async () => {
    await queue.enqueue(1, { id: "a", delay: 1_000 });
    const { reported, ended, until } = listen(queue.watch("a", { every: 10 }));
    await until(1);
    rig.now += 1_000;
    await rig.sweepOnce();
    await until(2);
    const [first] = await queue.dequeue();
    await until(3);
    for (const progress of [0, 0, { done: 0.5 }]) {
      await queue.settle([{ receipt: first?.receipt ?? "", outcome: "extend", progress }]);
      await until(progress === 0 ? 4 : 5);
    }
    rig.now += 10;
    await first?.requeue({ error: "once more" });
    await until(6);
    const [second] = await queue.dequeue();
    await until(7);
    await second?.requeue({ delay: 500 });
    await until(8);
    rig.now += 500;
    const [third] = await queue.dequeue();
    await until(9);
    await queue.cancel("a");
    await until(10);
    rig.now += 10;
    await third?.complete("all the same");
    await ended;
    expect(reported).toEqual([
      { event: "transition", version: 1, to: "delayed", at: START },
      { event: "transition", version: 1, to: "pending", at: START + 1_000 },
      { event: "transition", version: 2, to: "working", at: START + 1_000 },
      { event: "progress", version: 2, progress: 0 },
      { event: "progress", version: 2, progress: { done: 0.5 } },
      { event: "transition", version: 3, to: "pending", at: START + 1_010 },
      { event: "transition", version: 4, to: "working", at: START + 1_010 },
      { event: "transition", version: 5, to: "delayed", at: START + 1_010 },
      { event: "transition", version: 6, to: "working", at: START + 1_510 },
      { event: "transition", version: 7, to: "cancelRequested", at: START + 1_510 },
      { event: "end", version: 8, to: "completed", at: START + 1_520, task: await queue.get("a") },
    ]);
  });

  test("that missed more than the record keeps reports how many, then the rest and the end", async () => {
    const queue = rig.queue({ maxAttempts: 0 });
    const watch = await begun(queue);
    for (let i = 0; i < 10; i++) await (await queue.dequeue())[0]?.requeue();
    await (await queue.dequeue())[0]?.complete();
    const rest = await watch.rest();
    expect(rest[0]).toEqual({ event: "gap", version: 7, missed: 6 });
    expect(rest.slice(1).map((event) => event.event !== "gone" && event.version)).toEqual(
      Array.from({ length: 16 }, (_, i) => 8 + i),
    );
    expect(rest.at(-1)).toMatchObject({ event: "end", to: "completed", task: { requeues: 10 } });
  });

  test("of an ended task reports only the end, and reads it once", async () => {
    const { queue, looks } = counted(rig);
    await queue.enqueue(1, { id: "a" });
    await (await queue.dequeue())[0]?.complete({ kept: true });
    const before = looks();
    expect(await all(queue.watch("a"))).toEqual([
      { event: "end", version: 3, to: "completed", at: START, task: await queue.get("a") },
    ]);
    expect(looks() - before).toBe(2);
  });

  test("of a task that is unknown, removed, or expired reports that it is gone", async () => {
    expect(await all(queue.watch("none"))).toEqual([{ event: "gone" }]);
    const watch = await begun();
    await queue.cancel("a");
    rig.now += 600_000;
    await rig.sweepOnce();
    expect(await watch.rest()).toEqual([{ event: "gone" }]);
    const other = await begun();
    await queue.cancel("a");
    await rig.operator().remove("a");
    expect(await other.rest()).toEqual([{ event: "gone" }]);
  });

  test("of an id that ended and began again continues with rising versions, and reports what it missed", async () => {
    const watch = await begun();
    await (await queue.dequeue())[0]?.complete();
    rig.now += 5;
    await queue.enqueue(2, { id: "a", again: true });
    expect(await watch.next()).toEqual({ event: "gap", version: 3, missed: 2 });
    expect(await watch.next()).toEqual({ event: "transition", version: 4, to: "pending", at: START + 5 });
    await (await queue.dequeue())[0]?.complete();
    expect((await watch.rest()).map(short)).toEqual(["5 working", "6 completed, the end"]);
  });

  test("of a dead letter redriven between two reads reports the rejection, and continues", async () => {
    const watch = await begun();
    await (await queue.dequeue())[0]?.reject();
    await rig.operator().redrive({ ids: ["a"] });
    const reported = [await watch.next(), await watch.next(), await watch.next()];
    await (await queue.dequeue())[0]?.complete();
    reported.push(...(await watch.rest()));
    expect(reported.map((event) => event && short(event))).toEqual([
      "2 working",
      "3 rejected",
      "4 pending",
      "5 working",
      "6 completed, the end",
    ]);
  });

  test("continues after any version, and reports the end even after the last version", async () => {
    await queue.enqueue(1, { id: "a" });
    for (let i = 0; i < 2; i++) await (await queue.dequeue())[0]?.requeue();
    await (await queue.dequeue())[0]?.complete();
    const reported = await all(queue.watch("a", { after: 1 }));
    expect(reported.map(short)).toEqual([
      "2 working",
      "3 pending",
      "4 working",
      "5 pending",
      "6 working",
      "7 completed, the end",
    ]);
    for (let after = 2; after <= 6; after++) {
      expect(await all(queue.watch("a", { after }))).toEqual(reported.slice(after - 1));
    }
    expect(await all(queue.watch("a", { after: 7 }))).toEqual(reported.slice(-1));
    expect((await all(queue.watch("a", { after: 0 })))[0]).toEqual({ event: "gap", version: 1, missed: 1 });
  });

  test("after a promotion reports that the task is pending, until its time is over", async () => {
    await queue.enqueue(1, { id: "a" });
    await (await queue.dequeue())[0]?.requeue({ delay: 100 });
    rig.now += 100;
    await rig.sweepOnce();
    expect((await all(queue.watch("a", { for: 0 }))).map(short)).toEqual(["3 pending"]);
  });

  test("drops the lower versions of a replica that lags", async () => {
    const { queue, replay } = counted(rig);
    await queue.enqueue(1, { id: "a" });
    const { reported, ended, until } = listen(queue.watch("a", { every: 10 }));
    await until(1);
    const old = await replay.look();
    const [task] = await queue.dequeue();
    await until(2);
    await replay.give(old, 5);
    await task?.requeue();
    await until(3);
    await replay.give(old, 2);
    await queue.cancel("a");
    await ended;
    expect(reported.map(short)).toEqual(["1 pending", "2 working", "3 pending", "4 rejected, the end"]);
  });

  test("ends at once when its signal aborts: before it begins, between two reads, and within one", async () => {
    await queue.enqueue(1, { id: "a" });
    expect(await all(queue.watch("a", { signal: AbortSignal.abort() }))).toEqual([]);
    const between = new AbortController();
    const idle = listen(queue.watch("a", { every: "1h", signal: between.signal }));
    await idle.until(1);
    between.abort();
    await idle.ended;
    const within = new AbortController();
    const { queue: stalled, looking } = hanging(rig);
    const hung = listen(stalled.watch("a", { signal: within.signal }));
    await looking;
    within.abort();
    await hung.ended;
    expect([idle.reported.map(short), hung.reported]).toEqual([["1 pending"], []]);
  });

  test("throws if Redis is unreachable, and can continue after the last reported version", async () => {
    let away = false;
    const transport: Transport = {
      send: (commands, options) =>
        away
          ? Promise.reject(new SluiceError("redis_unreachable", "away"))
          : rig.transport.send(commands, options),
    };
    const queue = rig.queue({ transport });
    const watch = await begun(queue);
    away = true;
    await expect(watch.next()).rejects.toMatchObject({ code: "redis_unreachable" });
    away = false;
    await queue.cancel("a");
    expect((await all(queue.watch("a", { after: 1 }))).map(short)).toEqual(["2 rejected, the end"]);
  });

  test("reports or counts every version in order, at any times of reading", async () => {
    const random = dice(7);
    for (let life = 0; life < 20; life++) {
      const queue = rig.queue({ maxAttempts: 0 });
      const id = `t${life}`;
      await queue.enqueue(life, { id });
      const watch = stepwise(queue.watch(id, { every: 10 }));
      const reported = [await watch.next()];
      for (let i = 0; i < 3; i++) {
        const requeues = Math.floor(random() * 12);
        for (let j = 0; j < requeues; j++) await (await queue.dequeue())[0]?.requeue();
        if (requeues > 0) for (let j = random() * 2; j >= 0; j--) reported.push(await watch.next());
      }
      await (await queue.dequeue())[0]?.complete();
      reported.push(...(await watch.rest()));
      let version = 0;
      for (const event of reported) {
        if (event === undefined || event.event === "gone") throw new Error("no such event can come");
        expect(event.version - version).toBe(event.event === "gap" ? event.missed : 1);
        version = event.version;
      }
      expect(version).toBe((await queue.get(id))?.version);
      expect(reported.at(-1)?.event).toBe("end");
    }
  });
});
