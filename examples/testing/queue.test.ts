import { defineQueue, type Task } from "sluice-queue";
import { testQueue } from "sluice-queue/testing";
import { expect, test } from "vitest";

const emails = defineQueue<{ to: string }>("emails", { timeout: "10s", backoff: ["1m"] });

// The handler. At the first two attempts the mail server is busy.
async function send({ payload, attempt }: Task<{ to: string }>) {
  if (attempt < 3) throw new Error("the mail server is busy");
  return `sent to ${payload.to}`;
}

test("a mail that fails twice is sent at the third attempt", async () => {
  const queue = testQueue(emails);
  await queue.enqueue({ to: "ada@example.com" }, { delay: "10m" });

  await queue.advance("10m");
  expect(await queue.work(send)).toMatchObject({ requeued: 1 });

  expect(await queue.workToEnd(send)).toMatchObject({ requeued: 1, completed: 1 });
  expect(await queue.tasks()).toMatchObject([{ state: "completed", attempt: 3 }]);
  expect(await queue.deadLetters()).toEqual([]);
});

test("a handler that hangs is tried again", async () => {
  const queue = testQueue(emails);
  await queue.enqueue({ to: "ada@example.com" });
  const hangs = () => new Promise(() => {});
  expect(await queue.work(hangs, { timeout: "50ms" })).toMatchObject({ requeued: 1 });
});

test("a task whose consumer dies is delivered again", async () => {
  const queue = testQueue(emails);
  await queue.enqueue({ to: "ada@example.com" });
  await queue.queue.dequeue();
  await queue.advance("5m");
  expect(await queue.tasks()).toMatchObject([{ state: "pending", attempt: 1, errors: [{ error: null }] }]);
});
