import { expect, onTestFinished, test } from "vitest";
import { linked } from "../../src/features/linked/index.ts";
import { resp } from "../../src/transports/resp.ts";
import { press, useDashboard } from "./rig.ts";
import { lease } from "./work.ts";

const rig = useDashboard();

test("a group with no waiting task is named, limited and paused", async () => {
  const queue = rig.queue(rig.name("webhooks"));
  await queue.enqueue({});
  const { page } = await rig.visit({ at: `queues/${queue.name}/groups` });
  await page.getByText("No group has a waiting task.").waitFor();
  await page.getByLabel("Group without waiting tasks").fill("globex");
  await press(page, "Show");
  const row = page.getByRole("row").filter({ hasText: "globex" });
  await press(page, "Pause globex");
  await page.getByRole("dialog").getByText("Waiting: 0 tasks.").waitFor();
  await press(page, "Pause");
  await row.getByText("paused", { exact: true }).waitFor();
  await press(page, "Limits globex");
  await page.getByLabel("Most working tasks").fill("2");
  await press(page, "Change");
  await row.getByText("at most 2 working").waitFor();
  expect(await rig.operator(queue.name).groupSettings("globex")).toMatchObject({
    paused: true,
    maxWorking: 2,
  });
});

test("a group of dead letters is paused before its redrive, and resumed from the finding", async () => {
  const queue = rig.queue(rig.name("webhooks"));
  await queue.enqueueMany([{ payload: 1, group: "globex" }, { payload: 2 }]);
  for (let i = 0; i < 2; i++) await (await lease(queue)).reject("503");
  const { page } = await rig.visit({ at: `queues/${queue.name}/dead` });
  await press(page, "By group");
  const other = page.getByRole("row").filter({ hasText: "no group" });
  await other.waitFor();
  expect(await other.getByRole("button").count()).toBe(0);
  await press(page, "Limits the group globex");
  await page.getByRole("heading", { name: "Limits of globex" }).waitFor();
  await press(page, "Back");
  await press(page, "Pause or resume the group globex");
  await press(page, "Pause");
  await page.getByText("The group globex is paused.").waitFor();
  await press(page, "Redrive the group globex");
  await page.getByLabel("Also those that a consumer rejected for good").check();
  await press(page, "Redrive 1");
  await page.getByText(`1 dead letter of ${queue.name} redriven.`).waitFor();
  expect(await queue.dequeue()).toHaveLength(0);
  await press(page, `Resume globex… ${queue.name}`);
  await press(page, "Resume");
  await page.getByText("The group globex is resumed.").waitFor();
  await page.getByText(/of group globex wait, because it is paused/).waitFor({ state: "detached" });
  expect(await lease(queue)).toMatchObject({ payload: 1, group: "globex" });
});

test("groups in strict order that dead letters have stopped are shown, and go on when these are skipped, redriven or deleted", async () => {
  const name = rig.name("ledger");
  const { page } = await rig.visit({ at: `queues/${name}` });
  await press(page, "Limits…");
  await page.getByLabel("Tasks of a group").selectOption("stop");
  await press(page, "Change");
  await expect.poll(() => rig.operator(name).settings()).toMatchObject({ order: "strict", onDead: "stop" });
  const connection = resp(rig.redis.url);
  onTestFinished(() => connection.close());
  const queue = rig.queue(name, { transport: linked(connection) });
  for (const group of ["a", "b", "c"]) {
    await queue.enqueueMany([1, 2].map((i) => ({ payload: i, group, id: `${group}${i}` })));
    await (await lease(queue)).reject("no");
  }
  await page.getByRole("heading", { name: "3 groups are stopped" }).waitFor();
  await press(page, "Delete c1");
  await press(page, "Delete");
  await page.getByRole("heading", { name: "2 groups are stopped" }).waitFor();
  expect(await queue.get("c1")).toBeNull();
  await press(page, "Skip a1");
  await press(page, "Skip");
  await page.getByRole("heading", { name: "1 group is stopped" }).waitFor();
  await press(page, "Redrive b1");
  await press(page, "Redrive");
  await page.getByText("1 group is stopped").first().waitFor({ state: "detached" });
  const tasks = await queue.dequeue({ max: 9 });
  expect(tasks.map(({ id }) => id).toSorted()).toEqual(["a2", "b1", "c2"]);
});
