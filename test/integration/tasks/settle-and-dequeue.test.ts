import { describe, expect, test } from "vitest";
import type { Command, Settlement, Transport } from "../../../src/index.ts";
import { numbered } from "../../support/new-tasks.ts";
import { noRoomBeyond, roomFor } from "../../support/no-room.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig();

/** A queue with tasks a to d, of which the first is leased. */
async function leased() {
  const queue = rig.queue();
  await queue.enqueueMany(["a", "b", "c", "d"].map((id) => ({ id, payload: id })));
  const [task] = await queue.dequeue();
  if (!task) throw new Error("no task was leased");
  return { queue, task };
}

const completed = ({ receipt }: { readonly receipt: string }): Settlement => ({
  receipt,
  outcome: "complete",
});

describe("the dequeue of a call sees the settlements of the same call", () => {
  test("a task handed back unstarted comes first", async () => {
    const { queue, task } = await leased();
    const settlement = { receipt: task.receipt, outcome: "requeue", unstarted: true } as const;
    const { settled, tasks } = await queue.settleAndDequeue([settlement], { max: 2 });
    expect(settled).toMatchObject([{ ok: true, state: "pending" }]);
    expect(tasks.map(({ id, attempt }) => [id, attempt])).toEqual([
      ["a", 2],
      ["b", 1],
    ]);
  });

  test("a task requeued without delay comes last", async () => {
    const { queue, task } = await leased();
    const { tasks } = await queue.settleAndDequeue([{ receipt: task.receipt, outcome: "requeue" }], {
      max: 10,
    });
    expect(tasks.map(({ id }) => id)).toEqual(["b", "c", "d", "a"]);
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

test("nothing is leased if Redis has no room for the settlement", async () => {
  const { queue, task } = await leased();
  const before = (await rig.space()).pending;
  const full = rig.queue({ transport: roomFor(rig.transport, 0) });
  const refused = full.settleAndDequeue([{ receipt: task.receipt, outcome: "complete", result: 1 }]);
  await expect(refused).rejects.toMatchObject({ code: "queue_full" });
  expect((await rig.space()).pending).toEqual(before);
  expect((await queue.settleAndDequeue([completed(task)])).settled).toMatchObject([{ ok: true }]);
});

test("nothing is leased if Redis has no room for a result, even with room for the lease", async () => {
  const { task } = await leased();
  const before = await rig.space();
  const full = rig.queue({ transport: noRoomBeyond(rig.transport, 1_000) });
  const large = { receipt: task.receipt, outcome: "complete", result: "x".repeat(2_000) } as const;
  await expect(full.settleAndDequeue([large])).rejects.toMatchObject({ code: "queue_full" });
  const after = await rig.space();
  expect([after.pending, after.tasks]).toEqual([before.pending, before.tasks]);
  expect([...after.working.keys()]).toEqual(["a"]);
});

describe("a copy of a call", () => {
  /** Notes each command that is sent. */
  const twice = (copies: Command[]): Transport => ({
    send: async (commands, options) => {
      const outcomes = await rig.transport.send(commands, options);
      copies.push(...commands);
      return outcomes;
    },
  });

  test("gets the same answers and does nothing more", async () => {
    const { task } = await leased();
    const sent: Command[] = [];
    const queue = rig.queue({ transport: twice(sent) });
    const first = await queue.settleAndDequeue([completed(task)], { max: 2, token: "token-01" });
    const space = await rig.space();
    const second = await rig.queue().settleAndDequeue([completed(task)], { max: 2, token: "token-01" });
    expect(second.settled).toEqual(first.settled);
    expect(second.tasks.map(({ receipt }) => receipt)).toEqual(first.tasks.map(({ receipt }) => receipt));
    expect(await rig.space()).toEqual(space);
  });

  test("leases nothing if it arrives after one that found nothing", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(numbered(1));
    const [task] = await queue.dequeue();
    const sent: Command[] = [];
    const noting = rig.queue({ transport: twice(sent) });
    await noting.settleAndDequeue([completed(task!)], { token: "token-01" });
    await queue.enqueue("late");
    const late = sent.map((command) =>
      "script" in command ? { ...command, args: command.args.with(4, "") } : command,
    );
    await rig.transport.send(late);
    expect(await queue.dequeue()).toHaveLength(1);
  });
});
