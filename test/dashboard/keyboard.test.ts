import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { tokens } from "../../tools/dashboard/deployment.ts";
import { useDashboard } from "./rig.ts";

const rig = useDashboard();

/** What has the focus: its text, or the label of a field. */
const focused = (page: Page) =>
  page.evaluate(() => {
    const { activeElement: element } = document;
    if (element instanceof HTMLInputElement) return element.labels?.[0]?.textContent?.trim() ?? "";
    return element === document.body ? "" : (element?.textContent?.trim() ?? "");
  });

/** Presses Tab until the focus is there. */
async function tabTo(page: Page, text: string): Promise<void> {
  const seen: string[] = [];
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press("Tab");
    seen.push(await focused(page));
    if (seen.at(-1) === text) return;
  }
  expect(seen, "what Tab reaches").toContain(text);
}

test("the dashboard is used with the keyboard alone", async () => {
  const queue = rig.queue(rig.name("emails"));
  await queue.enqueue({}, { id: "welcome-1" });
  const { page } = await rig.visit({ as: null, at: "" });
  await page.getByLabel("Token", { exact: true }).waitFor();
  await tabTo(page, "Token");
  await page.keyboard.type(tokens.admin);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Queues" }).waitFor();

  await tabTo(page, queue.name);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: queue.name }).waitFor();
  // A screen reader begins at the heading of the new screen.
  await expect.poll(() => focused(page)).toBe(queue.name);

  await tabTo(page, "Pause…");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await expect.poll(() => focused(page)).toBe("For");
  // A key right behind Escape is not lost.
  for (let round = 0; round < 20; round++) {
    await page.keyboard.press("Escape");
    await page.keyboard.press("Enter");
    await expect.poll(() => focused(page)).toBe("For");
  }
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await expect.poll(() => focused(page)).toBe("Pause…");
  expect(await rig.operator(queue.name).settings()).toMatchObject({ paused: false });

  await page.keyboard.press("Enter");
  await tabTo(page, "Pause");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByText("paused", { exact: true }).waitFor();
  expect(await rig.operator(queue.name).settings()).toMatchObject({ paused: true });
  // The button that had the focus has another text now, and still has the focus.
  await expect.poll(() => focused(page)).toBe("Resume…");
  await page.keyboard.press("Enter");
  await tabTo(page, "Resume");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByText("paused", { exact: true }).waitFor({ state: "detached" });
  expect(await rig.operator(queue.name).settings()).toMatchObject({ paused: false });

  await tabTo(page, "welcome-1");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "welcome-1" }).waitFor();
  await expect.poll(() => focused(page)).toBe("welcome-1");
  await page.goBack();
  await page.getByRole("heading", { name: queue.name }).waitFor();
});

test("the first Tab of a page leads past its head", async () => {
  const queue = rig.queue(rig.name("emails"));
  await queue.enqueue({});
  const { page } = await rig.visit({ at: `queues/${queue.name}` });
  await page.getByRole("heading", { name: queue.name }).waitFor();
  await page.keyboard.press("Tab");
  await expect.poll(() => focused(page)).toBe("Skip to the content");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await expect.poll(() => focused(page)).toBe("Enqueue…");
  expect(new URL(page.url()).hash).toBe(`#/queues/${queue.name}`);
});
