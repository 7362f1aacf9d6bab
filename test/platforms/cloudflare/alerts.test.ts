import { it } from "vitest";
import { startWorker } from "../../../tools/workerd/harness.ts";
import { expectAlerts } from "../alerting.ts";

it("a Worker's cron in workerd sends signed webhooks and messages to Slack, and follows no redirect", () =>
  expectAlerts(async (env) => {
    const { server, cron } = await startWorker("test/platforms/cloudflare/alerts.toml", env);
    await cron();
    return { stop: () => server.close() };
  }));
