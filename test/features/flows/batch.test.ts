import { describe, expect, test } from "vitest";
import { Queue } from "../../../src/index.ts";
import { batch } from "../../../src/features/flows/index.ts";
import { linked } from "../../../src/features/linked/index.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig({ checkInvariants: false });
const queue = (name: string) =>
  new Queue<string>(name, { transport: linked(rig.transport), now: () => rig.now });

/** Adds a batch with all callbacks, ends its tasks in this way, and says what has become of all of them. */
async function ended(...ends: readonly ("complete" | "reject")[]) {
  const [rows, calls] = [queue("rows"), queue("calls")];
  const callback = (payload: string) => ({ queue: calls, payload });
  const { id, tasks } = await batch(
    ends.map((_, i) => ({ queue: rows, payload: String(i) })),
    { completed: callback("completed"), failed: callback("failed"), ended: callback("ended"), id: "import" },
  );
  for (const end of ends) {
    expect(await calls.dequeue({ max: 10 })).toHaveLength(0);
    await (await rows.dequeue())[0]?.[end]();
  }
  const begun = await calls.dequeue({ max: 10 });
  for (const one of begun) await one.complete();
  const states = await Promise.all(
    (["completed", "failed", "ended"] as const).map(async (ref) => {
      const found = await calls.get(tasks[ref] as string);
      return [found?.state, found && "reason" in found ? found.reason : undefined];
    }),
  );
  const root = await rows.get(`flow{${id}}`);
  const called = await calls.get(tasks["completed"] as string);
  const because = Object.keys(tasks).find((ref) => tasks[ref] === (called as { error?: unknown }).error);
  const payloads = begun.map(({ payload }) => payload);
  return { begun: payloads, states, because, root: root?.state, refs: Object.keys(tasks) };
}

describe("a batch of which", () => {
  test("all tasks complete calls back so, and is completed: no callback is a dead letter", async () => {
    expect(await ended("complete", "complete")).toEqual({
      begun: ["completed", "ended"],
      states: [
        ["completed", undefined],
        ["rejected", "cancelled"],
        ["completed", undefined],
      ],
      root: "completed",
      refs: ["1", "2", "completed", "failed", "ended"],
    });
    expect(await queue("calls").counts()).toMatchObject({ rejected: 0 });
  });

  test("a task fails calls back when the others have ended too", async () => {
    expect(await ended("complete", "reject", "complete")).toMatchObject({
      begun: ["failed", "ended"],
      states: [
        ["rejected", "dependency_failed"],
        ["completed", undefined],
        ["completed", undefined],
      ],
      because: "2",
      root: "rejected",
    });
  });
});

test("a batch refuses refs that its callbacks have, and one without tasks", async () => {
  const task = { queue: queue("rows"), payload: "" };
  await expect(batch([task, { ...task, ref: "failed" }])).rejects.toMatchObject({ path: "tasks[1].ref" });
  await expect(batch([])).rejects.toMatchObject({ path: "tasks" });
});
