import { describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { expectAccessible, looks, press, useDashboard } from "./rig.ts";
import { lease } from "./work.ts";

const rig = useDashboard();

const found = (page: Page) =>
  page.getByRole("table", { name: "Found tasks" }).locator("tbody .name").allTextContents();

/** Two queues with tasks that have a word in different places. */
async function fill(word: string) {
  const [emails, orders] = [rig.queue(rig.name("emails")), rig.queue(rig.name("orders"))];
  await emails.enqueue({ to: `${word}@example.com` }, { id: `payload-${emails.name}` });
  await orders.enqueue({}, { id: `error-${orders.name}` });
  await (await lease(orders)).reject(new Error(`no mailbox ${word}`));
  await orders.enqueue({}, { id: `other-${orders.name}` });
  return { emails, orders };
}

describe.each(Object.entries(looks))("in %s", (_, look) => {
  test("tasks of all queues are found by id, payload and error, as one types", async () => {
    const { emails, orders } = await fill(`margaret${look.viewport.width}`);
    const { page } = await rig.visit({ ...look, at: "" });
    await page.getByRole("link", { name: "Search" }).click();
    const text = page.getByLabel("Id, or part of a payload, error or result");
    await text.fill(`margaret${look.viewport.width}`);
    await expect.poll(() => found(page)).toEqual([`payload-${emails.name}`, `error-${orders.name}`]);
    expect(new URL(page.url()).hash).toBe(`#/search?text=margaret${look.viewport.width}`);
    await page.getByText(`{"to":"margaret${look.viewport.width}@example.com"}`).waitFor();
    await expectAccessible(page, "the found tasks");
    await page.getByLabel("State").selectOption("dead");
    await expect.poll(() => found(page)).toEqual([`error-${orders.name}`]);
    await page.getByLabel("State").selectOption("any");
    await page.getByLabel("Queues").fill("emails-*");
    await expect.poll(() => found(page)).toEqual([`payload-${emails.name}`]);
    await page.getByLabel("Queues").fill("");
    await text.fill(`other-${orders.name}`);
    await expect.poll(() => found(page)).toEqual([`other-${orders.name}`]);
    await page.getByRole("link", { name: `other-${orders.name}` }).click();
    await page.getByRole("heading", { name: `other-${orders.name}` }).waitFor();
    await page.goBack();
    await expect.poll(() => found(page)).toEqual([`other-${orders.name}`]);
  });
});

test("a search that has not looked at all tasks goes on, and adds what it finds", async () => {
  const { page, go } = await rig.visit();
  const base = { queue: "orders", state: "pending", attempt: 0, errors: [], enqueuedAt: Date.now() };
  await page.route("**/search?*", (route) => {
    const isSecond = new URL(route.request().url()).searchParams.get("cursor") === "more";
    return route.fulfill({
      json: {
        tasks: [{ ...base, id: isSecond ? "second" : "first", found: "id" }],
        looked: { tasks: 5_000, queues: 1 },
        unsearched: 1,
        failed: [],
        cursor: isSecond ? null : "more",
      },
    });
  });
  await go("search?text=order");
  await page.getByText("1 task found, 5,000 looked at so far. 1 payload could not be searched.").waitFor();
  await press(page, "Search on");
  await page.getByText("2 tasks found, 10,000 looked at. 2 payloads could not be searched.").waitFor();
  expect(await found(page)).toEqual(["first", "second"]);
  expect(await page.getByRole("button", { name: "Search on" }).count()).toBe(0);
});

test("the search of a token that hides payloads finds no payload and shows none", async () => {
  const { emails, orders } = await fill("secret");
  const { page, go } = await rig.visit({ as: "veiled", at: "search?text=secret" });
  await expect.poll(() => found(page)).toEqual([`error-${orders.name}`]);
  await go(`queues/${emails.name}`);
  await page.getByRole("link", { name: `payload-${emails.name}` }).waitFor();
  await page.getByText("hidden", { exact: true }).waitFor();
  expect(await page.locator("body").innerText()).not.toContain("secret@example.com");
  await page.keyboard.press("Control+k");
  await page.keyboard.type(emails.name);
  // It offers places, and no action.
  expect(await page.getByRole("option").filter({ hasText: "pause" }).count()).toBe(0);
});
