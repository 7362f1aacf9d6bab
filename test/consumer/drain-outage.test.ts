import { afterEach, expect, test, vi } from "vitest";
import { drain } from "../../src/consumer/drain/drain.ts";
import { numbered } from "../support/new-tasks.ts";
import { START, useRig } from "../support/rig.ts";

const rig = useRig();
const OUTAGE = 3_600_000;

afterEach(() => {
  vi.restoreAllMocks();
});

test.each([
  ["shortest", 0],
  ["longest", 1],
])("an outage of an hour loses no task by default, with the %s waits", async (_, chance) => {
  vi.spyOn(Math, "random").mockReturnValue(chance);
  const queue = rig.queue<number>();
  await queue.enqueueMany(numbered(12));
  const backUpAt = START + OUTAGE;
  let due: number | null = START;
  while (due !== null) {
    rig.now = due;
    const report = await drain(queue, ({ payload }) => {
      // The outage has not quite ended when it is an hour old.
      if (rig.now <= backUpAt) throw new Error("503");
      return payload;
    });
    due = report.nextDueAt;
  }
  expect(await queue.counts()).toEqual(
    expect.objectContaining({ pending: 0, delayed: 0, working: 0, rejected: 0 }),
  );
  const tasks = await Promise.all(numbered(12).map(({ id }) => queue.get(id)));
  expect(tasks.map((task) => [task?.state, task?.result])).toEqual(
    numbered(12).map(({ payload }) => ["completed", payload]),
  );
});
