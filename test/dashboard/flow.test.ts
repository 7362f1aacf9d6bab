import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { flow } from "../../src/features/flows/index.ts";
import { linked } from "../../src/features/linked/index.ts";
import type { Queue } from "../../src/index.ts";
import type { Transport } from "../../src/kernel/transport.ts";
import { resp } from "../../src/transports/resp.ts";
import { expectAccessible, looks, press, useDashboard, type Visit } from "./rig.ts";
import { lease } from "./work.ts";

const rig = useDashboard();

/** Queues whose transport knows flows, of this test alone. */
function queues(): { readonly queue: (name: string) => Queue; readonly transport: Transport } {
  const connection = resp(rig.redis.url);
  onTestFinished(() => connection.close());
  const transport = linked(connection);
  return { queue: (name) => rig.queue(name, { transport }), transport };
}

/** A flow with nodes in each state. */
async function addNight() {
  const { queue: queueOf } = queues();
  const queue = queueOf(rig.name("imports"));
  const { id, tasks } = await flow(
    [
      { ref: "fetch", queue, payload: 1 },
      { ref: "audit", queue, payload: 2 },
      { ref: "rows", queue, payload: 3, after: "fetch" },
      { ref: "ready", queue, payload: 4, after: "fetch" },
      { ref: "later", queue, payload: 5, delay: "1h" },
      { ref: "fell", queue, payload: 6, after: "audit" },
      {
        ref: "pages",
        after: "fetch",
        flow: [{ ref: "one", queue, payload: 7, delay: "1h" }],
      },
      { ref: "mail", queue, payload: 8, after: ["rows", "pages", { ref: "audit", on: "ended" }] },
    ],
    { id: "night" },
  );
  for (const ref of ["fetch", "audit", "rows"] as const) {
    const task = await lease(queue);
    expect(task.id).toBe(tasks[ref]);
    if (ref === "fetch") await task.complete();
    if (ref === "audit") await task.reject("no");
  }
  return { id, queue, mail: tasks.mail };
}

const open = ({ go }: Visit, id: string) => go(`flows/${encodeURIComponent(id)}`);

/** The node that has the focus. */
const focused = (page: Page) =>
  page.evaluate(() => document.activeElement?.getAttribute("data-ref") ?? document.activeElement?.tagName);

/** The forms of the nodes, by their refs. */
const marksOf = (page: Page) =>
  page
    .locator("[data-ref]")
    .evaluateAll((nodes) =>
      Object.fromEntries(
        nodes.map((node) => [node.getAttribute("data-ref"), node.querySelector(".mark")?.getAttribute("d")]),
      ),
    );

/** With what the forms of these nodes are painted, as the browser computes it. */
const paintsOf = (page: Page, refs: readonly string[]) =>
  Promise.all(
    refs.map((ref) =>
      page.locator(`[data-ref='${ref}'] .mark`).evaluate((mark) => {
        const { stroke, fill } = getComputedStyle(mark);
        return `${stroke} ${fill}`;
      }),
    ),
  );

/**
 * Runs in the page before its own script: between two slices of the layout, the page waits until `goOn` is called. On
 * each machine a slice is one step, because the clock of the page moves on by its length with each look at it.
 */
function stopBetweenSlices(): void {
  const { setTimeout: start } = globalThis;
  const now = performance.now.bind(performance);
  let moved = 0;
  performance.now = () => now() + (moved += 10);
  const slices: (() => void)[] = [];
  let isHeld = true;
  Object.assign(globalThis, {
    slices,
    setTimeout(run: () => void, ms?: number) {
      // Those of the layout alone resolve a promise after no time.
      const isSlice = ms === undefined && String(run).includes("native code");
      if (isSlice) slices.push(run);
      return isSlice && isHeld ? 0 : start(run, ms);
    },
    goOn() {
      isHeld = false;
      for (const run of slices) start(run);
    },
  });
}

test.each(Object.entries(looks))("a flow is drawn with the states of its tasks, in %s", async (_, look) => {
  const { id } = await addNight();
  const visit = await rig.visit(look);
  const { page } = visit;
  await open(visit, id);
  await page.getByRole("link", { name: /^fetch, completed/ }).waitFor();
  const names = await page.locator("[data-ref] > title").allTextContents();
  const queue = id.slice(id.indexOf("@") + 1);
  expect(names.toSorted()).toEqual([
    `audit, dead (rejected), queue ${queue}`,
    `fell, dead (audit failed), queue ${queue}, after audit`,
    `fetch, completed, queue ${queue}`,
    `later, delayed, queue ${queue}`,
    `mail, blocked, queue ${queue}, after rows, pages, any end of audit`,
    `pages, blocked, a flow in the flow, after any end of pages/one`,
    `pages/one, delayed, queue ${queue}, after fetch`,
    `ready, pending, queue ${queue}, after fetch`,
    `rows, working, queue ${queue}, after fetch`,
  ]);
  // Each state has a form of its own.
  const { fetch, audit, rows, ready, later, mail } = await marksOf(page);
  expect(new Set([fetch, audit, rows, ready, later, mail]).size).toBe(6);
  // And a colour, or a fill.
  expect(new Set(await paintsOf(page, ["fetch", "audit", "rows", "ready", "later", "mail"])).size).toBe(6);
  const edges = await page
    .locator(".edge")
    .evaluateAll((all) => all.map((edge) => edge.getAttribute("class")));
  expect(edges.toSorted((one, other) => (String(one) < String(other) ? -1 : 1))).toEqual([
    "edge edge-bad ",
    "edge edge-done ",
    "edge edge-done any-end",
    "edge edge-open ",
  ]);
  await expectAccessible(page, "the graph of a flow");
  await page.getByRole("link", { name: "list", exact: true }).click();
  await page.getByRole("row", { name: /^fell/ }).getByText("audit failed").waitFor();
  await expectAccessible(page, "the list of a flow");
  await page.getByLabel("State").selectOption("blocked");
  expect(await page.getByRole("row").count()).toBe(3);
});

test("the arrow keys lead through a graph, and Enter opens a task, which says what it waits for", async () => {
  const { id } = await addNight();
  const visit = await rig.visit();
  const { page } = visit;
  await open(visit, id);
  await page.getByRole("button", { name: "Show all" }).focus();
  await page.keyboard.press("Tab");
  expect(await focused(page)).toBe("fetch");
  const seen: (string | undefined)[] = [];
  for (const key of ["ArrowRight", "ArrowDown", "ArrowUp", "ArrowLeft", "End", "Home"]) {
    await page.keyboard.press(key);
    seen.push(await focused(page));
  }
  expect(seen).toEqual(["ready", "pages/one", "ready", "fetch", "mail", "fetch"]);
  await page.keyboard.press("End");
  expect(await focused(page)).toBe("mail");
  await page.getByRole("status").getByText("mail: blocked").waitFor();
  await page.keyboard.press("Enter");
  const waits = page.getByRole("listitem");
  await page.getByRole("heading", { name: "Waits for" }).waitFor();
  expect(await waits.filter({ hasText: /^(rows|pages|audit)/ }).allTextContents()).toEqual([
    "rows: working ",
    "pages: blocked ",
    "audit to end in any way: dead rejected",
  ]);
  await page.getByRole("link", { name: id }).click();
  await page.getByRole("heading", { name: id }).waitFor();
});

test("a flow is cancelled and redriven after a question, and its page follows it", async () => {
  const { id, queue, mail } = await addNight();
  const visit = await rig.visit({ withClock: true });
  const { page } = visit;
  await open(visit, id);
  await press(page, "Redrive…");
  await press(page, "Redrive");
  await page.getByText(`1 task of ${id} redriven.`).waitFor();
  await page.getByRole("link", { name: /^audit, pending/ }).waitFor();
  await page.getByRole("link", { name: /^fell, blocked/ }).waitFor();
  await lease(queue);
  await page.clock.fastForward(6_000);
  await page.getByRole("link", { name: /^ready, working/ }).waitFor();
  await press(page, "Cancel…");
  await page.getByRole("dialog").getByText("asked to stop").waitFor();
  await press(page, "Back");
  await press(page, "Cancel…");
  await press(page, "Cancel the flow");
  await page.getByText(/ of .* cancelled\. 2 working tasks asked to stop\./).waitFor();
  await page.getByRole("link", { name: /^mail, cancelled/ }).waitFor();
  expect(await queue.get(mail)).toMatchObject({ state: "rejected", reason: "cancelled" });
});

test("a viewer who may only look cannot change a flow", async () => {
  const { id } = await addNight();
  const visit = await rig.visit({ as: "view" });
  await open(visit, id);
  await visit.page.getByRole("link", { name: /^fetch/ }).waitFor();
  expect(await visit.page.getByRole("button", { name: /^(Cancel|Redrive)/ }).count()).toBe(0);
});

test("blocked tasks are counted in the lists, have a tab, and are purged", async () => {
  const { queue } = await addNight();
  const { blocked } = await queue.counts();
  const { page, go } = await rig.visit({ at: "queues" });
  await page.getByRole("columnheader", { name: "Blocked" }).waitFor();
  // Head and row at once: queues of other tests may bring another column.
  const shown = await page.getByRole("row", { name: queue.name }).evaluate((row) => {
    const heads = Array.from(
      row.closest("table")?.querySelectorAll("thead th") ?? [],
      (one) => one.textContent,
    );
    return row.children[heads.indexOf("Blocked")]?.textContent;
  });
  expect(shown).toBe(String(blocked));
  await go(`queues/${queue.name}`);
  const tile = page.locator(".tile").filter({ hasText: /^blocked/ });
  expect(await tile.locator("dd").textContent()).toBe(String(blocked));
  await page.getByRole("link", { name: /^blocked/ }).click();
  await page.getByRole("columnheader", { name: "Flow" }).waitFor();
  await expect.poll(() => page.getByRole("row").count()).toBe(1 + blocked);
  await expectAccessible(page, "blocked tasks");
  await press(page, "Purge all…");
  const dialog = page.getByRole("dialog", { name: `Purge blocked tasks of ${queue.name}?` });
  await dialog.getByText("All blocked tasks of the queue.").waitFor();
  await press(page, "Purge");
  await page.getByText(new RegExp(`^${blocked} tasks? of ${queue.name} purged\\.$`)).waitFor();
  expect(await queue.counts()).toMatchObject({ blocked: 0 });
});

test("a flow of a thousand tasks is drawn in slices, between which the page answers, and one of more than two thousand is a list", async () => {
  const { queue: queueOf } = queues();
  const queue = queueOf(rig.name("many"));
  // Each but the first ones waits for two before it.
  const { id } = await flow(
    Array.from({ length: 1_000 }, (_, i) => ({
      ref: `t${i}`,
      queue,
      payload: i,
      after:
        i < 20
          ? []
          : [`t${i - 1 - (i % 20)}`, `t${i - 20}`].filter((ref, at, all) => all.indexOf(ref) === at),
    })),
  );
  const visit = await rig.visit();
  const { page } = visit;
  await page.addInitScript(stopBetweenSlices);
  await open(visit, id);
  await page.getByText("Drawing the graph…").waitFor();
  await press(page, "Cancel…");
  await page.getByRole("dialog").getByText("asked to stop").waitFor();
  await press(page, "Back");
  expect(await page.locator("[data-ref]").count()).toBe(0);
  await page.evaluate("goOn()");
  await expect.poll(() => page.locator("[data-ref]").count()).toBe(1_000);
  expect(await page.evaluate("slices.length")).toBe(16);
  await page.locator("[data-ref][tabindex='0']").focus();
  await page.keyboard.press("End");
  expect(await focused(page)).toBe("t999");
  await expect
    .poll(() =>
      page.locator("[data-ref='t999']").evaluate((node) => {
        const { top, left } = node.getBoundingClientRect();
        return document.elementFromPoint(left + 50, top + 20)?.closest("[data-ref]") === node;
      }),
    )
    .toBe(true);

  await page.route("**/api/v1/flows/*", async (route) => {
    const response = await route.fetch();
    const report = (await response.json()) as { nodes: { ref: string }[] };
    const more = ["a", "b"].flatMap((front) =>
      report.nodes.map((node) => ({ ...node, ref: front + node.ref, after: [] })),
    );
    await route.fulfill({ json: { ...report, nodes: [...report.nodes, ...more] } });
  });
  await page.reload();
  await page.evaluate("goOn()");
  await page.getByText("A flow is drawn if it has up to 2,000 tasks.").waitFor();
  await press(page, "Next");
  await page.getByRole("link", { name: "t50", exact: true }).waitFor();
});
