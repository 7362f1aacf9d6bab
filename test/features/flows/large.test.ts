import { expect, test } from "vitest";
import { MAX_FLOW_TASKS } from "../../../src/http/flows/index.ts";
import { task, useFlowRig } from "./flow-rig.ts";

const { queue, flows, sweep, add, take } = useFlowRig();

test("a task of another queue waits for all others of the largest flow, and begins once", async () => {
  const refs = Array.from({ length: MAX_FLOW_TASKS - 1 }, (_, i) => `t${i}`);
  const { id } = await add([task("last", refs, { queue: "two" }), ...refs.map((ref) => task(ref))]);
  const seen = new Set<string>();
  while (seen.size < refs.length) {
    expect(await queue("two").counts()).toMatchObject({ blocked: 1 });
    const tasks = await queue("one").dequeue({ max: 1_000 });
    for (const { payload } of tasks) seen.add(payload);
    await queue("one").settle(tasks.map(({ receipt }) => ({ receipt, outcome: "complete" })));
  }
  const last = await take("two");
  expect(await last.complete()).toMatchObject({ ok: true });
  await sweep();
  expect(await queue("two").dequeue()).toHaveLength(0);
  expect(await flows().get(id)).toMatchObject({
    state: "completed",
    counts: { completed: MAX_FLOW_TASKS, blocked: 0 },
  });
});
