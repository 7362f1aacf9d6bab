// The code of docs/testing.md on a server, so that it is type checked. configurations.test.ts compares it.

import { defineQueue, type QueueConsumer } from "sluice-queue";
import { serve, type ServeOptions } from "sluice-queue/node";
import { testDeployment } from "sluice-queue/testing";

interface Env {
  readonly MAIL_URL: string;
}
const emails = defineQueue<{ to: string }>("emails");
declare const sendWelcome: QueueConsumer<Env, { to: string }>;

// app.ts
export const app: ServeOptions<Env> = {
  consumers: [sendWelcome],
  fetch: async (_request, { queue }) => Response.json(await queue(emails).enqueue({ to: "ada@example.com" })),
};

// server.ts
await serve({ ...app, port: 3000 });

// app.test.ts
const deployment = testDeployment(app, { env: { MAIL_URL: "https://mail.test" } });

await deployment.run();
