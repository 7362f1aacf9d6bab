import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { takeRefusals, useDashboard } from "./rig.ts";
import { lease, makeDeadLetters } from "./work.ts";

const rig = useDashboard();

const buttons = (page: Page) => page.getByRole("button").allTextContents();

async function filled() {
  const queue = rig.queue(rig.name("emails"));
  await makeDeadLetters(queue, 2, new Error("no such mailbox"));
  await queue.enqueue({ to: "ada@example.com" }, { id: "done", headers: { trace: "t-1" } });
  await (await lease(queue)).complete({ sent: "to ada" });
  await queue.enqueue({ to: "ada@example.com" }, { id: "waiting", headers: { trace: "t-1" } });
  return queue;
}

test("a token that may only view sees everything and no button that changes something", async () => {
  const queue = await filled();
  const { page, go } = await rig.visit({ as: "view", at: "" });
  await page.getByRole("table").waitFor();
  expect(await buttons(page)).toEqual(["Go to… Ctrl K", "Sign out", "Look for new queues"]);
  for (const tab of ["pending", "delayed", "working", "completed", "dead"]) {
    await go(`queues/${queue.name}/${tab}`);
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    const own = tab === "dead" ? ["By cause", "By group"] : [];
    expect(await buttons(page)).toEqual(["Go to… Ctrl K", "Sign out", ...own, "Previous", "Next"]);
    expect(await page.getByRole("checkbox").count()).toBe(2);
  }
  for (const tab of ["schedules", "workers", "groups"]) {
    await go(`queues/${queue.name}/${tab}`);
    await page.getByText(/^(?:This queue has no schedule|No worker|No group)/).waitFor();
    // It shows the limits of a group.
    const own = tab === "groups" ? ["Show"] : [];
    expect(await buttons(page)).toEqual(["Go to… Ctrl K", "Sign out", ...own]);
  }
  for (const id of ["waiting", "done"]) {
    await go(`queues/${queue.name}/tasks/${id}`);
    await page.getByRole("heading", { name: id, exact: true }).waitFor();
    expect(await buttons(page)).toEqual(["Go to… Ctrl K", "Sign out"]);
  }
  await go(`queues/${queue.name}/tasks/waiting`);
  await page.getByText("ada@example.com").waitFor();
});

test("a token from which payloads are hidden sees that they are hidden, and no value of a task", async () => {
  const queue = await filled();
  const { page, go } = await rig.visit({ as: "veiled", at: `queues/${queue.name}/tasks/waiting` });
  await page.getByText("hidden", { exact: true }).first().waitFor();
  await go(`queues/${queue.name}/tasks/done`);
  await page.getByRole("heading", { name: "done", exact: true }).waitFor();
  await page.getByText("hidden", { exact: true }).first().waitFor();
  const text = await page.locator("body").innerText();
  expect(text).not.toMatch(/ada|t-1/);
});

test("a token for some queues sees these and no others", async () => {
  const own = await filled();
  const other = rig.queue(rig.name("orders"));
  await other.enqueue({}, { id: "secret" });
  const { page, faults, go } = await rig.visit({ as: "emails", at: "" });
  await page.getByRole("table", { name: "Queues" }).getByRole("link", { name: own.name }).waitFor();
  expect(await page.getByRole("link", { name: other.name }).count()).toBe(0);
  await go("costs");
  await page.getByRole("table", { name: "Costs by queue" }).waitFor();
  expect(await page.getByText(other.name).count()).toBe(0);
  await go(`queues/${other.name}`);
  await page.getByRole("alert").getByText("The token").waitFor();
  expect(await page.getByRole("table").count()).toBe(0);
  await takeRefusals(faults, "403 (Forbidden)");
});
