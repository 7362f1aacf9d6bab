import { expect } from "vitest";
import { asker } from "../http/served.ts";
import type { Deployed } from "./place.ts";
import { LONG_TASKS } from "./long-work-deployment.ts";

/** Enqueues tasks that take longer than one invocation, and expects all to be done without cron. */
export async function expectLongWorkDone({ fetch }: Pick<Deployed, "fetch">): Promise<void> {
  const ask = asker(fetch);
  const tasks = Array.from({ length: LONG_TASKS }, (_, i) => ({ payload: i, id: `t${i}` }));
  expect((await ask("POST", "/v1/queues/long/tasks", { json: { tasks } })).status).toBe(201);
  await expect
    .poll(async () => (await ask("GET", "/v1/queues/long")).body, { timeout: 20_000 })
    .toMatchObject({ pending: 0, delayed: 0, working: 0, rejected: 0 });
  for (const { id } of tasks) {
    const { body } = await ask("GET", `/v1/queues/long/tasks/${id}`);
    expect(body).toMatchObject({ state: "completed", attempt: expect.any(Number) as number });
  }
}
