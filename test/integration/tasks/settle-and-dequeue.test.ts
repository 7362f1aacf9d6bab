import { expect, test } from "vitest";
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
