import { describe, expect, onTestFinished, test, vi } from "vitest";
import { serve } from "../../serverless/node.ts";
import type { Authorize } from "../../src/http/dashboard/authorize.ts";
import { tokens } from "../../tools/dashboard/deployment.ts";
import { expectAccessible, looks, takeRefusals, useDashboard } from "./rig.ts";

const rig = useDashboard();

/** A deployment whose application decides who may see the dashboard, and answers all other paths with a question. */
async function serveTo(authorize: Authorize) {
  const { gateway } = rig.deployment;
  const server = await serve({
    dashboard: { authorize },
    fetch: () => new Response("Who are you?"),
    port: 0,
    hostname: "127.0.0.1",
    every: "1d",
    signals: false,
    env: { UPSTASH_REDIS_REST_URL: gateway.url, UPSTASH_REDIS_REST_TOKEN: gateway.token },
  });
  onTestFinished(() => server.close());
  return server;
}

describe.each(Object.entries(looks))("in %s", (_, look) => {
  test("a wrong token is refused with the reason, a right one opens the dashboard, and signing out ends it", async () => {
    const { page, context, faults } = await rig.visit({ ...look, as: null, at: "" });
    const token = page.getByLabel("Token", { exact: true });
    const isFocused = () => token.evaluate((field) => field === document.activeElement);
    await expect.poll(isFocused).toBe(true);
    await token.fill("wrong-0123456789abcdef");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("This server does not know the token.").waitFor();
    await expectAccessible(page, "the sign-in");
    await takeRefusals(faults, "401 (Unauthorized)");
    expect(await context.cookies()).toEqual([]);

    await token.fill(tokens.view);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Queues" }).waitFor();
    const { hostname } = new URL(rig.deployment.url);
    expect(await context.cookies()).toEqual([
      {
        name: "sluice_session",
        value: tokens.view,
        domain: hostname,
        path: "/dashboard",
        expires: expect.any(Number),
        httpOnly: true,
        secure: false,
        sameSite: "Strict",
      },
    ]);
    expect(await page.evaluate(() => document.cookie)).toBe("");
    expect(await page.evaluate(() => JSON.stringify(Object.entries(localStorage)))).not.toContain(
      tokens.view,
    );

    await page.getByRole("button", { name: "Sign out" }).click();
    await expect.poll(isFocused).toBe(true);
    expect(await context.cookies()).toEqual([]);
    const status = await page.evaluate(async () => (await fetch("dashboard/api/v1/queues")).status);
    expect(status).toBe(401);
    await takeRefusals(faults, "401 (Unauthorized)");
  });

  test("an application that lets its own users in has no sign-in here, and leads others back to itself", async () => {
    await rig.queue(rig.name("emails")).enqueue({ to: "ada@example.com" });
    const server = await serveTo(
      ({ headers }) => headers.get("cookie") === "user=ada" && { scopes: ["view"], queues: "*" },
    );
    const url = `${server.url}/dashboard`;
    const { page, context, faults } = await rig.visit({ ...look, as: null, url, at: "" });
    const refusal = page.getByText("The application does not let you in.");
    await refusal.waitFor();
    await expectAccessible(page, "the page for others");
    expect(await page.getByLabel("Token", { exact: true }).count()).toBe(0);

    await context.addCookies([{ name: "user", value: "ada", url: server.url }]);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { name: "Queues" }).waitFor();
    expect(await page.getByRole("button", { name: "Sign out" }).count()).toBe(0);
    await context.clearCookies();
    // No click: the page refreshes itself.
    await refusal.waitFor();
    await takeRefusals(faults, "401 (Unauthorized)");
  });

  test("a viewer whose session of the application has ended is led to its login, and the page loads itself once", async () => {
    let loads = 0;
    const server = await serveTo(({ headers, url }) => {
      if (url.endsWith("/dashboard")) loads++;
      if (headers.get("cookie") === "user=ada") return { scopes: ["view"], queues: "*" };
      return Response.redirect(new URL("/login", url));
    });
    const { page, context, faults } = await rig.visit({ ...look, as: null, url: server.url });
    const enter = async (user: string) => {
      await context.addCookies([{ name: "user", value: user, url: server.url }]);
      await page.goto(`${server.url}/dashboard`);
    };
    await enter("ada");
    await page.getByRole("heading", { name: "Queues" }).waitFor();
    // No click: the page refreshes itself.
    await context.clearCookies();
    await page.getByText("Who are you?").waitFor();
    expect(new URL(page.url()).pathname).toBe("/login");
    expect(loads).toBe(2);
    await takeRefusals(faults, "401 (Unauthorized)");

    await enter("ada");
    await page.getByRole("heading", { name: "Queues" }).waitFor();
    await context.clearCookies();
    await page.getByText("The application does not let you in.").waitFor();
    expect(loads, "without a second reload within a minute").toBe(3);
    await takeRefusals(faults, "401 (Unauthorized)");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("Who are you?").waitFor();
  });

  test("a sign-out that fails is reported, and the viewer stays signed in", async () => {
    const { page, context, faults } = await rig.visit({ ...look, at: "" });
    await page.getByRole("heading", { name: "Queues" }).waitFor();
    await page.route("**/session", (route) => route.abort(), { times: 1 });
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("alert").getByText("You are still signed in").waitFor();
    await page.getByRole("heading", { name: "Queues" }).waitFor();
    expect(await context.cookies()).toHaveLength(1);
    await vi.waitFor(() => expect(faults.splice(0)).toEqual([expect.stringContaining("net::ERR_FAILED")]));
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Token", { exact: true }).waitFor();
    expect(await context.cookies()).toEqual([]);
  });

  test("a session that has ended elsewhere leads back to the sign-in", async () => {
    const queue = rig.queue(rig.name("emails"));
    await queue.enqueue({ to: "ada@example.com" });
    const { page, context, faults } = await rig.visit({ ...look, at: "" });
    await page.getByRole("heading", { name: "Queues" }).waitFor();
    await context.clearCookies();
    // No click: the page refreshes itself, and the button might go away meanwhile.
    await page.getByLabel("Token", { exact: true }).waitFor();
    await takeRefusals(faults, "401 (Unauthorized)");
  });
});
