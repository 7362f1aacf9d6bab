import { describe, expect, test } from "vitest";
import type { Settlement } from "../../../src/index.ts";
import { named, numbered } from "../../support/new-tasks.ts";
import { noRoomBeyond, roomFor } from "../../support/no-room.ts";
import { recorded } from "../../support/recorded.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig();

/** A queue with tasks a to d, of which the first is leased. */
async function leased() {
  const queue = rig.queue();
  await queue.enqueueMany(named(["a", "b", "c", "d"]));
  const [task] = await queue.dequeue();
  if (!task) throw new Error("no task was leased");
  return { queue, task };
}

const completed = ({ receipt }: { readonly receipt: string }): Settlement => ({
  receipt,
  outcome: "complete",
});

describe("the dequeue of a call sees the settlements of the same call", () => {
  test.each<[what: string, settlement: object, next: (string | number)[][]]>([
    [
      "handed back unstarted comes first",
      { outcome: "requeue", unstarted: true },
      [
        ["a", 2],
        ["b", 1],
      ],
    ],
    [
      "requeued without delay comes last",
      { outcome: "requeue" },
      [
        ["b", 1],
        ["c", 1],
        ["d", 1],
        ["a", 2],
      ],
    ],
  ])("a task %s", async (_, settlement, next) => {
    const { queue, task } = await leased();
    const settlements = [{ receipt: task.receipt, ...settlement }] as Settlement[];
    const { settled, tasks } = await queue.settleAndDequeue(settlements, { max: next.length });
    expect(settled).toMatchObject([{ ok: true, state: "pending" }]);
    expect(tasks.map(({ id, attempt }) => [id, attempt])).toEqual(next);
  });

  test("the deadline of an ended lease does not count for nextDueAt", async () => {
    const { queue, task } = await leased();
    const others = await queue.dequeue({ max: 10 });
    const { tasks } = await queue.settleAndDequeue([task, ...others].map(completed), { max: 10 });
    expect(tasks).toMatchObject({ length: 0, nextDueAt: null });
  });

  test("a completed task makes room for the next at maxWorking", async () => {
    const { queue, task } = await leased();
    await rig.operator().configure({ maxWorking: 1 });
    expect(await queue.dequeue()).toHaveLength(0);
    const { tasks } = await queue.settleAndDequeue([completed(task)], { max: 10 });
    expect(tasks.map(({ id }) => id)).toEqual(["b"]);
  });
});

test("a stale receipt gets lease_lost, and the dequeue continues", async () => {
  const { queue, task } = await leased();
  await task.complete();
  const other = { receipt: task.receipt, outcome: "reject" } as const;
  const { settled, tasks } = await queue.settleAndDequeue([other]);
  expect(settled).toMatchObject([{ ok: false, code: "lease_lost" }]);
  expect(tasks.map(({ id }) => id)).toEqual(["b"]);
});

test("a completed id with a ghost in the list stays completed", async () => {
  const queue = rig.queue();
  await queue.enqueue("first", { id: "a" });
  await queue.cancel("a");
  // Delayed, so that its ghost keeps its place in the list.
  await queue.enqueue("second", { id: "a", again: true, delay: 1_000 });
  rig.now += 1_000;
  await rig.sweepOnce();
  await queue.enqueue("behind", { id: "b" });
  const [task] = await queue.dequeue();
  expect(task).toMatchObject({ id: "a", payload: "second" });
  const { settled, tasks } = await queue.settleAndDequeue([completed(task!)], { max: 2 });
  expect(settled).toMatchObject([{ ok: true, state: "completed" }]);
  expect(tasks.map(({ id }) => id)).toEqual(["b"]);
  expect(await queue.get("a")).toMatchObject({ state: "completed" });
});

test.each([
  ["the settlement", () => roomFor(rig.transport, 0)],
  ["a result, even with room for the lease", () => noRoomBeyond(rig.transport, 1_000)],
])("nothing is leased if Redis has no room for %s", async (_, full) => {
  const { queue, task } = await leased();
  const before = await rig.space();
  const large = { receipt: task.receipt, outcome: "complete", result: "x".repeat(2_000) } as const;
  const refused = rig.queue({ transport: full() }).settleAndDequeue([large]);
  await expect(refused).rejects.toMatchObject({ code: "queue_full" });
  const after = await rig.space();
  expect([after.pending, after.tasks]).toEqual([before.pending, before.tasks]);
  expect([...after.working.keys()]).toEqual(["a"]);
  expect((await queue.settleAndDequeue([completed(task)])).settled).toMatchObject([{ ok: true }]);
});

test("a copy of a call leases nothing if it arrives after one that found nothing", async () => {
  const { queue, requests } = recorded(rig);
  await queue.enqueueMany(numbered(1));
  const [task] = await queue.dequeue();
  await queue.settleAndDequeue([completed(task!)], { token: "token-01" });
  await queue.enqueue("late");
  const late = (requests[2] ?? []).map((command) =>
    "script" in command ? { ...command, args: command.args.with(4, "") } : command,
  );
  await rig.transport.send(late);
  expect(await queue.dequeue()).toHaveLength(1);
});
