import { describe, expect, test } from "vitest";
import { deepTools } from "../../support/deep.ts";
import { key, START, useRig } from "../../support/rig.ts";

// Damage of one kind at a time. After each test the rig checks every invariant.
const rig = useRig();
const { found, enqueue, drained } = deepTools(rig);

describe("a deep sweep of workers, timers and keys", () => {
  test("repairs worker leases: one added, one missing, one out of order", async () => {
    await enqueue("a", "b", "c");
    await rig.queue().dequeue({ max: 3, worker: { name: "w", incarnation: "1" } });
    const leases = [...(await rig.space()).workerLeases.keys()];
    await rig.command("ZREM", key("worker-leases"), leases[0] ?? "");
    await rig.command(
      "ZADD",
      key("worker-leases"),
      "0",
      "w 1 000000000000009 a",
      "0",
      "junk",
      "3",
      leases[1] ?? "",
    );
    const { worker_lease_wrong: wrong } = await found();
    expect(wrong).toEqual(["a", "b", "junk"]);
    expect(await rig.operator().failWorker({ name: "w", incarnation: "1" })).toMatchObject({ returned: 3 });
  });

  test.each([{ name: "w" }, { name: "w", incarnation: "0" }, { name: "w", incarnation: "a" }])(
    "keeps a worker that is being failed until it has no leases: %j",
    async (worker) => {
      await enqueue("a");
      await rig.queue().dequeue({ worker });
      const member = `w ${worker.incarnation ?? ""}`;
      await rig.command("HDEL", key("tasks"), `~w:${member}`);
      expect(await found()).toEqual({});
      expect([...(await rig.space()).workers.keys()]).toEqual([member]);
    },
  );

  test("removes a record without a worker, and a worker without a record, which is no fault", async () => {
    await enqueue("a", "b");
    for (const name of ["x", "y"])
      await rig
        .queue()
        .dequeue({ worker: { name } })
        .then(([task]) => task?.complete());
    await rig.command("HDEL", key("tasks"), "~w:x ");
    await rig.command("ZREM", key("workers"), "y ");
    expect(await found()).toEqual({ worker_wrong: ["y "] });
    expect(await rig.queue().counts()).toMatchObject({ workers: 0 });
  });

  test("repairs the alarm for silent workers, and the count of timers", async () => {
    await enqueue("a");
    await rig.queue().dequeue({ worker: { name: "x", silentAfter: 1_000 } });
    await rig.command("ZREM", key("delayed"), "~w");
    expect(await found()).toEqual({ timer_wrong: ["~alarm", "~timers"] });
    await rig.command("HSET", key("tasks"), "~timers", "5");
    expect(await found()).toEqual({ timer_wrong: ["~timers"] });
    await rig.command("HSET", key("tasks"), "~alarm", "soon");
    expect(await found()).toMatchObject({ control_broken: ["~alarm"] });
    rig.now += 1_000;
    await rig.sweepOnce();
    expect((await rig.space()).pending).toEqual(["a"]);
  });

  test("removes an alarm without a timer if there are no workers, and the next worker sets one", async () => {
    await enqueue("a");
    await rig.command("HSET", key("tasks"), "~alarm", "5");
    expect(await found()).toEqual({ timer_wrong: ["~alarm"] });
    await rig.queue().dequeue({ worker: { name: "w", silentAfter: "1m" }, lease: "30d" });
    rig.now += 60_000;
    await rig.sweepOnce();
    expect((await rig.space()).pending).toEqual(["a"]);
  });

  test("counts a worker that would never be silent as silent now", async () => {
    await enqueue("a");
    await rig.queue().dequeue({ worker: { name: "w", silentAfter: "1m" }, lease: "30d" });
    await rig.command("ZADD", key("workers"), "inf", "w ");
    expect(await found()).toEqual({ time_broken: ["w "], timer_wrong: ["~alarm"] });
    await rig.sweepOnce();
    expect((await rig.space()).pending).toEqual(["a"]);
  });

  test("repairs the timer of a group whose rate holds tasks", async () => {
    await rig.operator().configureGroup("g", { rate: { most: 1, per: "1s" } });
    await enqueue({ id: "a", group: "g" }, { id: "b", group: "g" });
    await rig
      .queue()
      .dequeue()
      .then(([task]) => task?.complete());
    await rig.command("ZREM", key("delayed"), "~g:g");
    await rig.command("HDEL", key("tasks"), "~timers");
    expect(await found()).toEqual({ timer_wrong: ["g"] });
    rig.now += 1_100;
    await rig.sweepOnce();
    expect(await drained()).toEqual(["b"]);
  });

  test("misses no timer of a group that has a ready task after the clock has jumped back", async () => {
    await rig.operator().configureGroup("g", { rate: { most: 1, per: "3s" } });
    await enqueue({ id: "a", group: "g" });
    await rig
      .queue()
      .dequeue()
      .then(([task]) => task?.complete());
    rig.now += 60_000;
    await enqueue({ id: "b", group: "g" }, { id: "c", group: "g" });
    rig.now -= 59_000;
    expect(await found()).toEqual({});
    expect(await drained()).toEqual([]);
    rig.now += 3_100;
    expect(await drained()).toEqual(["b"]);
    rig.now += 3_300;
    expect(await drained()).toEqual(["c"]);
  });

  test("gives a dedup key without an expiry its time", async () => {
    await enqueue({ id: "a", dedup: { key: "k", window: "1h" } });
    await rig.command("ZREM", key("expiry"), "~d:k");
    expect(await found()).toEqual({ expiry_missing: ["~d:k"] });
    expect((await rig.space()).expiry.get("~d:k")).toBe(START + 3_600_000);
  });
});
