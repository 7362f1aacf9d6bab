import { beforeEach, expect, test } from "vitest";
import { linked } from "../../../src/features/linked/index.ts";
import type { Operator, Queue } from "../../../src/index.ts";
import { looking } from "../../operate/health/looking.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig();
let ledger: Queue<number>;
let operator: Operator;
beforeEach(async () => {
  ledger = rig.queue<number>({ transport: linked(rig.transport) });
  operator = rig.operator();
  await operator.configure({ order: "strict", onDead: "stop" });
});

const add = (...ids: string[]) =>
  ledger.enqueueMany(ids.map((id, i) => ({ payload: i, id, group: id.charAt(0) })));

/** Groups whose tasks are ready, in line behind a working task, stopped, or wait for a limit. */
async function groupsOfAllKinds(): Promise<void> {
  await operator.configureGroup("e", { maxWorking: 1, order: "none" });
  await add("c1", "c2", "c3", "d1", "d2", "e1", "e2");
  const tasks = await ledger.dequeue({ max: 10 });
  expect(tasks.map(({ id }) => id)).toEqual(["c1", "d1", "e1"]);
  await tasks[1]?.reject();
  await add("a1", "a2", "b1");
}

const KINDS = [
  { group: "a", ready: 1, inLine: 1, stoppedBy: null },
  { group: "b", ready: 1, inLine: 0, stoppedBy: null },
  { group: "c", ready: 0, working: 1, inLine: 2, stoppedBy: null },
  { group: "d", ready: 0, working: 0, inLine: 1, stoppedBy: "d1" },
  { group: "e", ready: 0, working: 1, limited: 1, inLine: 0 },
];

test("groups show how many of their tasks are in line, and what stops them", async () => {
  await groupsOfAllKinds();
  const { groups, cursor } = await operator.groups();
  expect(groups).toMatchObject(KINDS);
  expect(cursor).toBe(null);
  expect(groups).toEqual(await Promise.all(groups.map(({ group }) => operator.groupSettings(group))));
});

test.each([1, 2, 3])("each group is on one page, %i a page", async (size) => {
  await groupsOfAllKinds();
  const names: string[] = [];
  let cursor: string | null | undefined;
  do {
    const page = await operator.groups({ size, cursor: cursor ?? undefined });
    expect(page.groups.length).toBeLessThanOrEqual(size);
    names.push(...page.groups.map(({ group }) => group));
    cursor = page.cursor;
  } while (cursor !== null);
  expect(names).toEqual(["a", "b", "c", "d", "e"]);
});

test("tasks in line do not wait for the limit that their group also has", async () => {
  await operator.configureGroup("a", { maxWorking: 1 });
  await add("a1", "a2", "b1", "b2");
  await ledger.dequeue({ max: 10 });
  rig.now += 1_800_000;
  const codes = (await looking(rig).findings({ after: "1m" })).map(([code]) => code);
  expect(codes).not.toContain("group_at_limit");
});
