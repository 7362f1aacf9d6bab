import { defineAlerts, slack, webhook } from "../../src/features/alerts/index.ts";

export interface AlertEnv {
  readonly RECEIVER_URL: string;
  readonly ALERT_SECRET: string;
}

/** What the tests deploy on several runtimes. Imports nothing of Node. */
export const alerts = defineAlerts({
  rules: [{ name: "waiting", when: { pending: { above: 0 } } }],
  send: ({ RECEIVER_URL, ALERT_SECRET }: AlertEnv) => [
    webhook({ url: `${RECEIVER_URL}/webhook`, secret: ALERT_SECRET }),
    webhook({ url: `${RECEIVER_URL}/moved`, secret: ALERT_SECRET }),
    slack({ url: `${RECEIVER_URL}/slack` }),
  ],
});
