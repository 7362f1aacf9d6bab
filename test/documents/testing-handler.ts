// The code of docs/testing.md on a handler alone, so that it is type checked. configurations.test.ts compares it.

import type { DefinedQueue, QueueConsumer } from "sluice-queue";
import type { DeploymentTools } from "sluice-queue/cloudflare";
import { expect } from "vitest";

interface Env {
  readonly MAIL_URL: string;
}
declare const sendWelcome: QueueConsumer<Env, { to: string }>;
declare const emails: DefinedQueue<{ to: string }>;
declare const env: Env;
declare const tools: DeploymentTools<Env>;

import { testTask } from "sluice-queue/testing";

const task = testTask({ to: "ada@example.com" }, { attempt: 3 });
await sendWelcome.handler(task, env, tools);
expect(task.extensions).toEqual([]); // its calls of extend
task.abort("timeout"); // aborts its signal, as a drain does

const delivered = await testTask({ to: "ada@example.com" }, { queue: emails, attempt: 3 });
expect(delivered.attempt).toBe(3);
