import { describe, expect, test } from "vitest";
import type { LeasedTask, Settlement } from "../../../src/index.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig();

const outcomes = ["complete", "reject", "requeue", "extend"] as const;

async function leased() {
  const queue = rig.queue();
  await queue.enqueue("work", { id: "a" });
  const [task] = await queue.dequeue({ lease: 1_000 });
  return { queue, task: task as LeasedTask };
}

describe("fencing (I2 I3)", () => {
  test.each(outcomes)("%s with the receipt of a reclaimed lease changes nothing", async (outcome) => {
    const { queue, task } = await leased();
    rig.now += 1_000;
    await rig.sweepOnce();
    const unheld = await rig.keySpace();
    expect(await queue.settle([{ receipt: task.receipt, outcome }])).toEqual([
      { receipt: task.receipt, ok: false, code: "lease_lost" },
    ]);
    expect(await rig.keySpace()).toEqual(unheld);

    const [holder] = await queue.dequeue();
    const held = await rig.keySpace();
    expect(await queue.settle([{ receipt: task.receipt, outcome }])).toMatchObject([{ ok: false }]);
    expect(await rig.keySpace()).toEqual(held);
    expect(await holder?.complete()).toMatchObject({ ok: true });
    const ended = await rig.keySpace();
    expect(await queue.settle([{ receipt: task.receipt, outcome }])).toMatchObject([{ ok: false }]);
    expect(await rig.keySpace()).toEqual(ended);
  });

  test.each(outcomes)("%s with a wrong token, lease number or id changes nothing", async (outcome) => {
    const { queue, task } = await leased();
    const [, attempt, lease, token = ""] = task.receipt.split(".");
    const before = await rig.keySpace();
    // Tokens wrong in one character, too short, and too long: only the whole token is accepted.
    const wrong = Array.from(token, (_, i) => `${token.slice(0, i)}-${token.slice(i + 1)}`);
    for (const receipt of [
      ...[...wrong, token.slice(0, -1), `${token}-`].map((other) => `1.${attempt}.${lease}.${other}.a`),
      `1.${attempt}.${Number(lease) + 1}.${token}.a`,
      `1.${attempt}.${Number(lease) - 1}.${token}.a`,
      `1.${attempt}.${lease}.${token}.b`,
      `1.${attempt}.${lease}.${token}.~lease`.replace("~", "x"),
    ]) {
      expect(await queue.settle([{ receipt, outcome }])).toEqual([
        { receipt, ok: false, code: "lease_lost" },
      ]);
    }
    expect(await rig.keySpace()).toEqual(before);
  });

  test("of several outcomes sent at once for one lease, one wins and the record is its own", async () => {
    const { queue, task } = await leased();
    const all: Settlement[] = outcomes
      .filter((outcome) => outcome !== "extend")
      .map((outcome) => ({ receipt: task.receipt, outcome }));
    const answers = await Promise.all(all.map((settlement) => queue.settle([settlement])));
    const won = answers.flat().filter((answer) => answer.ok);
    expect(won).toHaveLength(1);
    expect(await queue.get("a")).toMatchObject({ state: won[0]?.state });
  });

  test.each([
    ["completed twice and then rejected", "complete", "reject"],
    ["rejected twice and then completed", "reject", "complete"],
  ] as const)("a task that is %s has ended once, with the first outcome", async (_, first, other) => {
    const { queue, task } = await leased();
    await rig.operator().configure({ statistics: true });
    expect(await task[first]("first")).toMatchObject({ ok: true });
    const ended = await rig.keySpace();
    expect(await task[first]("second")).toMatchObject({ ok: true });
    expect(await task[other]("third")).toEqual({ receipt: task.receipt, ok: false, code: "lease_lost" });
    expect(await rig.keySpace()).toEqual(ended);
    const { dead, expiry } = await rig.space();
    expect([dead.size, expiry.size]).toEqual([first === "reject" ? 1 : 0, 1]);
    expect(await queue.get("a")).toMatchObject(
      first === "reject" ? { state: "rejected", error: "first" } : { state: "completed", result: "first" },
    );
  });

  test.each(outcomes)(
    "%s of a pending or delayed task changes nothing, and it is delivered once",
    async (outcome) => {
      const { queue, task: waits } = await leased();
      await waits.requeue();
      await queue.enqueue("work", { id: "b", priority: 1 });
      const [delayed] = await queue.dequeue();
      await delayed?.requeue({ delay: 1_000 });
      await queue.enqueueMany([
        { payload: "work", id: "c" },
        { payload: "work", id: "d", delay: 1_000 },
      ]);
      const [, , lease, token] = waits.receipt.split(".");
      const receipts = [
        waits.receipt,
        delayed?.receipt ?? "",
        ...["c", "d"].map((id) => `1.1.${lease}.${token}.${id}`),
      ];
      const before = await rig.keySpace();
      const reported = await queue.settle(receipts.map((receipt) => ({ receipt, outcome })));
      // A second requeue with the same receipt is a resend, which gets its old answer.
      expect(reported.map((answer) => (answer.ok ? answer.state : answer.code))).toEqual(
        outcome === "requeue"
          ? ["pending", "delayed", "lease_lost", "lease_lost"]
          : receipts.map(() => "lease_lost"),
      );
      expect(await rig.keySpace()).toEqual(before);
      rig.now += 1_000;
      await rig.sweepOnce();
      const all = await queue.dequeue({ max: 10 });
      expect(all.map(({ id }) => id).toSorted()).toEqual(["a", "b", "c", "d"]);
      expect(await queue.dequeue({ max: 10 })).toHaveLength(0);
    },
  );
});
