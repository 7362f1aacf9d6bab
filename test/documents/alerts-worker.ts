import { defineAlerts, slack } from "sluice-queue/alerts";
import { sluice } from "sluice-queue/cloudflare";

export default sluice({
  consumers: { emails: ({ payload }) => console.log(payload) },
  alerts: defineAlerts({
    rules: [{ when: { newDeadLetters: {} } }, { when: { oldestAge: { above: "5m" } } }],
    send: (env: { SLACK_URL: string }) => [slack({ url: env.SLACK_URL })],
  }),
});
