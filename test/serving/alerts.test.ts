import { it, onTestFinished, vi } from "vitest";
import { serve } from "../../serverless/node.ts";
import { alerts } from "../platforms/alerting-deployment.ts";
import { expectAlerts } from "../platforms/alerting.ts";

it("a server of Node sends signed webhooks and messages to Slack, and follows no redirect", async () => {
  const errors = vi.spyOn(console, "error").mockImplementation(() => {});
  onTestFinished(() => errors.mockRestore());
  await expectAlerts(async (env) => {
    const server = await serve({ alerts, env, port: 0, hostname: "127.0.0.1", signals: false });
    return { stop: () => server.close() };
  });
});
