import { describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { expectAccessible, expectNotSideways, looks, useDashboard } from "./rig.ts";
import { errorNamed, lease } from "./work.ts";

const rig = useDashboard();

const SCRIPT = "<script>alert(1)</script>";
const IMAGE = `<img src=x onerror="alert(2)">`;
const RTL = "\u202Eevil\u202C \u2066isolated\u2069 \u05D0\u05D1";
const EMOJI = "👩‍👩‍👧‍👦🏴‍☠️ é ﷽";
const hostile = `${SCRIPT}${IMAGE}${RTL}${EMOJI}`;

/** Markup in the page that is not the page's own. */
const strangers = (page: Page) =>
  page.evaluate(() => document.querySelectorAll("#app :is(script, img, iframe, object)").length);

describe.each(Object.entries(looks))("in %s", (_, look) => {
  test("names, values and errors with markup are shown as text, and nothing of them runs", async () => {
    const queue = rig.queue(rig.name("emails"));
    const [id, group, worker] = [`a${SCRIPT}`, `g<img/src=x/onerror=alert(3)>`, `w${SCRIPT}`];
    const payload = {
      text: hostile,
      [hostile]: [SCRIPT, IMAGE],
      ...(JSON.parse(`{ "__proto__": { "polluted": true }, "constructor": "x" }`) as object),
    };
    const own = JSON.parse(`{ "__proto__": { "polluted": true } }`) as object;
    const headers = { trace: SCRIPT, "x-html": IMAGE };
    await queue.enqueue({ ...payload, own }, { id, group, headers });
    const first = await lease(queue, { name: worker });
    await first.requeue({ error: errorNamed(SCRIPT, hostile) });
    await lease(queue, { name: worker });
    await queue.enqueue({}, { id: "done" });
    await (await lease(queue)).complete({ html: hostile });
    await queue.enqueue({}, { id: `d${SCRIPT}` });
    await (await lease(queue)).reject(errorNamed("Error", hostile));

    const { page, faults, go } = await rig.visit(look);
    for (const [place, text] of [
      [`queues/${queue.name}/working`, id],
      [`queues/${queue.name}/working`, group],
      [`queues/${queue.name}/working`, worker],
      [`queues/${queue.name}/dead`, `d${SCRIPT}`],
      [`queues/${queue.name}/dead`, SCRIPT],
      [`queues/${queue.name}/workers`, worker],
      [`queues/${queue.name}/pending?group=${encodeURIComponent(SCRIPT)}`, "must be"],
      [`queues/${queue.name}/dead?text=${encodeURIComponent(SCRIPT)}`, `d${SCRIPT}`],
      [`queues/${encodeURIComponent(SCRIPT)}`, "Try again"],
      [`queues/${queue.name}/tasks/${encodeURIComponent(id)}`, id],
    ] as const) {
      await go(place);
      await page.getByText(text).first().waitFor();
      await page.getByText("Loading…").waitFor({ state: "detached" });
      expect([place, await strangers(page)]).toEqual([place, 0]);
      await expectNotSideways(page, place);
    }
    await expectAccessible(page, "the task");
    // The names that no queue and no group can have are refused.
    const refused = "error: Failed to load resource: the server responded with a status of 400 (Bad Request)";
    expect(faults.splice(0).filter((fault) => fault !== refused)).toEqual([]);
    const shown = JSON.parse(
      (await page.getByLabel("Payload", { exact: true }).textContent()) ?? "",
    ) as object;
    expect(JSON.stringify(shown)).toBe(JSON.stringify({ ...payload, own }));
    expect(JSON.parse((await page.getByLabel("Headers").textContent()) ?? "")).toEqual(headers);
    expect(JSON.parse((await page.getByLabel("Last error").textContent()) ?? "")).toEqual({
      name: SCRIPT,
      message: hostile,
    });
    expect(await page.title()).toContain(id);
    expect(await page.evaluate(() => "polluted" in {})).toBe(false);
    // What is written from right to left does not turn what is beside it.
    const isolated = await page
      .locator("pre")
      .evaluateAll((all) => all.every((one) => one.querySelector("bdi")));
    expect(isolated).toBe(true);

    await page.getByRole("button", { name: "Cancel…" }).click();
    await page.getByRole("dialog").getByText(id).first().waitFor();
    await page.getByRole("button", { name: "Cancel the task" }).click();
    await page.getByText(`A cancel of ${id} was requested.`).waitFor();
    expect(await queue.get(id)).toMatchObject({ cancelRequested: true });
  });

  test("a payload of a megabyte is shown in part, then in whole", async () => {
    const queue = rig.queue(rig.name("emails"));
    const payload = { text: `${SCRIPT}${"0123456789".repeat(100_000)}end` };
    await queue.enqueue(payload, { id: "large" });
    const { page } = await rig.visit({ ...look, at: `queues/${queue.name}/tasks/large` });
    const value = page.getByLabel("Payload", { exact: true });
    await value.waitFor();
    expect((await value.textContent())?.length).toBeLessThanOrEqual(20_000);
    await page.getByRole("button", { name: /^Show all/ }).click();
    await expect.poll(async () => (await value.textContent())?.length).toBeGreaterThan(1_000_000);
    expect(JSON.parse((await value.textContent()) ?? "")).toEqual(payload);
    expect(await strangers(page)).toBe(0);
    // The page still answers.
    await page.getByRole("button", { name: "Cancel…" }).click();
    await page.getByText("No consumer gets the task.").waitFor();
  });
});
