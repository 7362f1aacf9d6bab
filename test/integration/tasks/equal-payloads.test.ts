import { expect, test } from "vitest";
import { useRig } from "../../support/rig.ts";

const rig = useRig();
const payload = { to: "a@example.com" };

/** Four tasks with equal payloads. */
async function four() {
  const queue = rig.queue();
  const made = await queue.enqueueMany(Array.from({ length: 4 }, () => ({ payload })));
  const ids = made.map(({ id }) => id);
  expect(new Set(ids).size).toBe(4);
  return { queue, ids };
}

test("tasks with equal payloads are independent: settling or cancelling one leaves the others", async () => {
  const { queue, ids } = await four();
  const [a, b, c] = await queue.dequeue({ max: 3 });
  expect([a, b, c].map((task) => task?.payload)).toEqual([payload, payload, payload]);
  await a?.complete();
  const left = await rig.space();
  expect([[...left.working.keys()].toSorted(), left.pending]).toEqual([ids.slice(1, 3), [ids[3]]]);
  await b?.requeue();
  expect(await queue.cancel(ids[3] ?? "")).toEqual({ ok: true, state: "rejected" });
  expect(await c?.complete()).toMatchObject({ ok: true });
  expect((await queue.dequeue({ max: 5 })).map(({ id }) => id)).toEqual([ids[1]]);
  expect(await queue.counts()).toMatchObject({ pending: 0, working: 1, rejected: 0 });
});

test("equal dead letters are all kept, and are redriven and removed one by one", async () => {
  const { queue, ids } = await four();
  for (const task of await queue.dequeue({ max: 4 })) await task.reject("no such address");
  expect((await queue.counts()).rejected).toBe(4);
  expect(await rig.operator().redrive({ ids: ids.slice(0, 1) })).toMatchObject({ redriven: 1 });
  expect(await rig.operator().remove(ids[1] ?? "")).toEqual({ ok: true });
  expect([...(await rig.space()).dead.keys()].toSorted()).toEqual(ids.slice(2));
  expect((await queue.dequeue({ max: 5 })).map((task) => [task.id, task.payload])).toEqual([
    [ids[0], payload],
  ]);
});
