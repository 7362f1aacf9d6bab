import { describe, expect, test } from "vitest";
import type { Settlement } from "../../../src/index.ts";
import { leasing } from "../../support/leasing.ts";
import { named } from "../../support/new-tasks.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig();
const leased = leasing(rig);

const outcomes = ["complete", "reject", "requeue", "extend"] as const;

describe("fencing (I2 I3)", () => {
  test.each(outcomes)("%s with the receipt of a reclaimed lease changes nothing", async (outcome) => {
    const { queue, task } = await leased();
    const expectRefused = async () => {
      const before = await rig.keySpace();
      expect(await queue.settle([{ receipt: task.receipt, outcome }])).toEqual([
        { receipt: task.receipt, ok: false, code: "lease_lost" },
      ]);
      expect(await rig.keySpace()).toEqual(before);
    };
    rig.now += 1_000;
    await rig.sweepOnce();
    await expectRefused();
    const [holder] = await queue.dequeue();
    await expectRefused();
    expect(await holder?.complete()).toMatchObject({ ok: true });
    await expectRefused();
  });

  test.each(outcomes)("%s with a wrong token, lease number or id changes nothing", async (outcome) => {
    const { queue, task } = await leased();
    const [, attempt, lease, token = ""] = task.receipt.split(".");
    const before = await rig.keySpace();
    // Tokens wrong in one character, too short, and too long: only the whole token is accepted.
    const wrong = Array.from(token, (_, i) => `${token.slice(0, i)}-${token.slice(i + 1)}`);
    const receipts = [
      ...[...wrong, token.slice(0, -1), `${token}-`].map((other) => `1.${attempt}.${lease}.${other}.a`),
      `1.${attempt}.${Number(lease) + 1}.${token}.a`,
      `1.${attempt}.${Number(lease) - 1}.${token}.a`,
      `1.${attempt}.${lease}.${token}.b`,
      `1.${attempt}.${lease}.${token}.xlease`,
    ];
    for (const receipt of receipts) {
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

  // Callers that share a receipt count as one caller.
  test.each(["complete", "reject"] as const)(
    "a task that got %s twice, and then each other outcome, has ended once, with the first outcome",
    async (first) => {
      const { queue, task } = await leased();
      await rig.operator().configure({ statistics: true });
      expect(await task[first]("first")).toMatchObject({ ok: true });
      const ended = await rig.keySpace();
      expect(await task[first]("second")).toMatchObject({ ok: true });
      for (const outcome of outcomes.filter((one) => one !== first)) {
        expect(await task[outcome]()).toEqual({ receipt: task.receipt, ok: false, code: "lease_lost" });
      }
      expect(await rig.keySpace()).toEqual(ended);
      const { dead, expiry } = await rig.space();
      expect([dead.size, expiry.size]).toEqual([first === "reject" ? 1 : 0, 1]);
      expect(await queue.get("a")).toMatchObject(
        first === "reject" ? { state: "rejected", error: "first" } : { state: "completed", result: "first" },
      );
    },
  );

  test.each(outcomes)(
    "%s of a pending or delayed task changes nothing, and it is delivered once",
    async (outcome) => {
      const { queue, task: waits } = await leased();
      await waits.requeue();
      await queue.enqueue("work", { id: "b", priority: 1 });
      const [delayed] = await queue.dequeue();
      await delayed?.requeue({ delay: 1_000 });
      await queue.enqueueMany([...named(["c"]), ...named(["d"], { delay: 1_000 })]);
      const [, , lease, token] = waits.receipt.split(".");
      const never = ["c", "d"].map((id) => `1.1.${lease}.${token}.${id}`);
      const receipts = [waits.receipt, delayed?.receipt ?? "", ...never];
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
