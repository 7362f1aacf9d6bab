import { expect, test } from "vitest";
import { leasing } from "../support/leasing.ts";
import { useRig } from "../support/rig.ts";

const rig = useRig();
const leased = leasing(rig);

const outcomes = ["complete", "reject", "requeue", "extend"] as const;

test.each(outcomes)(
  "%s with the receipt of a reclaimed lease changes nothing, nor with a wrong token, lease number or id",
  async (outcome) => {
    const { queue, task: lost } = await leased();
    rig.now += 1_000;
    const [task] = await queue.dequeue();
    const [, attempt, lease, token = ""] = task?.receipt.split(".") ?? [];
    const before = await rig.keySpace();
    // Tokens wrong in one character, too short, and too long: only the whole token is accepted.
    const wrong = Array.from(token, (_, i) => `${token.slice(0, i)}-${token.slice(i + 1)}`);
    const receipts = [
      lost.receipt,
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
  },
);

// Callers that share a receipt count as one caller.
test("a task has ended once, with the first outcome: a later one gets lease_lost, and changes nothing", async () => {
  const { queue, task } = await leased();
  expect(await task.complete("first")).toMatchObject({ ok: true });
  const ended = await rig.keySpace();
  expect(await task.complete("second")).toMatchObject({ ok: true });
  for (const outcome of ["reject", "requeue", "extend"] as const) {
    expect(await task[outcome]()).toMatchObject({ ok: false, code: "lease_lost" });
  }
  expect(await rig.keySpace()).toEqual(ended);
  expect(await queue.get("a")).toMatchObject({ state: "completed", result: "first" });
});
