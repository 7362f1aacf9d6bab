import { defineQueue, type Task } from "sluice-queue";
import { testQueue, testTask } from "sluice-queue/testing";
import { expect, test } from "vitest";

const emails = defineQueue<{ to: string }>("emails", { backoff: ["1m"] });

// Fails twice.
async function send({ payload, attempt, signal }: Task<{ to: string }>) {
  if (signal.aborted) throw signal.reason;
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

test("a handler stops when its signal aborts", async () => {
  const task = testTask({ to: "ada@example.com" }, { attempt: 3 });
  expect(await send(task)).toBe("sent to ada@example.com");
  task.abort("timeout");
  await expect(send(task)).rejects.toThrow();
});
