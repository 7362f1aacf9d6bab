// What Sluice's HTTP interface is compared with.

import { Hono } from "hono";
import { Queue, type Transport } from "../../src/index.ts";

/** Parses the body and answers with JSON: the least that any such interface does. */
export function echo(answers: Readonly<Record<string, unknown>>): Hono {
  const app = new Hono();
  app.post("/echo/:answer", async (c) => {
    await c.req.json();
    return c.json(answers[c.req.param("answer")] as object, 200);
  });
  return app;
}

/** Calls the library from a bare handler, which checks neither the token nor the body. */
export function bare(transport: Transport): Hono {
  const app = new Hono();
  const queue = new Queue("bench", { transport });
  app.post("/bare/tasks", async (c) => {
    const body = await c.req.json();
    return "tasks" in body
      ? c.json({ tasks: await queue.enqueueMany(body.tasks) }, 200)
      : c.json(await queue.enqueue(body.payload), 200);
  });
  app.post("/bare/tasks/pull", async (c) => {
    const tasks = await queue.dequeue(await c.req.json());
    const { nextDueAt, paused } = tasks;
    const reported = tasks.map(({ id, receipt, payload, attempt, enqueuedAt, deadlineAt, leasedFor }) => {
      return { id, receipt, payload, attempt, enqueuedAt, deadlineAt, leasedFor };
    });
    return c.json({ tasks: reported, nextDueAt, paused }, 200);
  });
  return app;
}
