import { describe, expect, test } from "vitest";
import { expectAccessible, looks, press, takeRefusals, useDashboard } from "./rig.ts";

const rig = useDashboard();

describe.each(Object.entries(looks))("in %s", (_, look) => {
  test("the palette leads to a queue, a task, a search and an action, by keyboard alone", async () => {
    const emails = rig.queue(rig.name("emails"));
    await emails.enqueue({}, { id: `payload-${emails.name}` });
    const { page } = await rig.visit({ ...look, at: "" });
    await page.getByRole("table", { name: "Queues" }).waitFor();
    const keys = async (text: string, ...more: string[]) => {
      await page.keyboard.press("Control+k");
      await page.getByRole("dialog").getByRole("combobox").waitFor();
      await page.keyboard.type(text);
      for (const key of more) await page.keyboard.press(key);
    };
    const selected = () => page.locator('[role="option"][aria-selected="true"]').textContent();
    await keys(emails.name);
    await expect.poll(selected).toBe(`Queue ${emails.name}`);
    await expectAccessible(page, "the palette");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: emails.name }).waitFor();
    await keys("pause", "Enter");
    await page.getByRole("heading", { name: `Pause ${emails.name}?` }).waitFor();
    // No second dialog opens over another one.
    await page.keyboard.press("Control+k");
    expect(await page.getByRole("dialog").count()).toBe(1);
    await press(page, "Pause");
    await page.getByText(`${emails.name} is paused.`).waitFor();
    await keys(`payload-${emails.name}`, "Enter");
    await page.getByRole("heading", { name: `payload-${emails.name}` }).waitFor();
    await keys("payload-", "ArrowUp");
    await expect.poll(selected).toBe("Search all tasks for “payload-”");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Search" }).waitFor();
    await page.getByRole("link", { name: `payload-${emails.name}` }).waitFor();
    await keys("", "Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });
});

test("from the start page the palette finds the tabs and actions of each queue", async () => {
  const emails = rig.queue(rig.name("emails"));
  await emails.enqueue({});
  const { page } = await rig.visit({ at: "" });
  await page.getByRole("table", { name: "Queues" }).waitFor();
  const go = async (text: string) => {
    await page.keyboard.press("Control+k");
    await page.getByRole("option", { name: `Queue ${emails.name}` }).waitFor();
    await page.keyboard.type(text);
    await page.keyboard.press("Enter");
  };
  await go(`pause ${emails.name}`);
  await page.getByRole("heading", { name: `Pause ${emails.name}?` }).waitFor();
  await press(page, "Back");
  await page.getByRole("link", { name: "Sluice" }).click();
  await page.getByRole("heading", { name: "Queues" }).waitFor();
  await go(`${emails.name} dead`);
  await expect.poll(() => new URL(page.url()).hash).toBe(`#/queues/${emails.name}/dead`);
});

test("an id that a queue does not have leads to the search of all queues", async () => {
  const [emails, orders] = [rig.queue(rig.name("emails")), rig.queue(rig.name("orders"))];
  const id = `task-of-${orders.name}`;
  await emails.enqueue({});
  await orders.enqueue({}, { id });
  const { page, faults } = await rig.visit({ at: `queues/${emails.name}/tasks/${id}` });
  await page.getByRole("link", { name: "Search all queues for it" }).click();
  await page.getByRole("table", { name: "Found tasks" }).getByRole("link", { name: id }).click();
  await page.getByRole("heading", { name: id }).waitFor();
  await takeRefusals(faults, "404 (Not Found)");
});
