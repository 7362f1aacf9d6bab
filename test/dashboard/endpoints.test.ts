import { expect, test } from "vitest";
import { Endpoints } from "../../src/open/endpoints/index.ts";
import { resp } from "../../src/transports/resp.ts";
import { expectAccessible, press, useDashboard } from "./rig.ts";

const rig = useDashboard();

test("endpoints are listed, disabled, enabled and replayed", async () => {
  const transport = resp(rig.redis.url);
  const endpoints = new Endpoints("deliveries", { transport });
  await endpoints.add({ id: "acme", url: "https://acme.example/hooks", types: ["orders.*"] });
  await endpoints.add({ id: "globex", url: "https://globex.example", description: "of Globex" });
  await endpoints.report({ ok: false, gone: true }, { task: { group: "globex" } });
  const queue = rig.queue("deliveries");
  await queue.enqueueMany([1, 2].map((payload) => ({ payload, group: "acme" })));
  for (const task of await queue.dequeue({ max: 2 })) await task.reject("no");

  const { page } = await rig.visit({ at: "endpoints" });
  const row = (id: string) => page.getByRole("row").filter({ hasText: id });
  await row("globex").getByText("it asked for it").waitFor();
  await expectAccessible(page, "endpoints");
  await press(page, "Replay acme");
  await page.getByLabel("In the last").selectOption("hour");
  await press(page, "Replay");
  await page.getByText("2 deliveries to acme replayed.").waitFor();
  expect(await queue.dequeue({ max: 5 })).toHaveLength(2);

  await press(page, "Disable acme");
  await press(page, "Disable");
  await row("acme").getByText("by an operator").waitFor();
  await press(page, "Enable acme");
  await press(page, "Enable");
  await row("acme").getByText("active").waitFor();
  expect(await endpoints.get("acme")).toMatchObject({ state: "active" });
  await row("acme").getByRole("link", { name: "dead" }).click();
  await page.getByRole("heading", { name: "deliveries" }).waitFor();

  const { page: viewed } = await rig.visit({ at: "endpoints", as: "view" });
  await viewed.getByRole("table", { name: "Endpoints" }).waitFor();
  expect(await viewed.getByRole("button", { name: "Disable acme" }).count()).toBe(0);
  for (const id of ["acme", "globex"]) await endpoints.remove(id);
  await transport.close();
});
