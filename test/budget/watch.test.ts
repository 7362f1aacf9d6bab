import { expect, test } from "vitest";
import { useBilled } from "../support/billed.ts";

// What it costs to follow a task, or a queue's events.

const billed = useBilled(async ({ queue }) => {
  await queue.enqueue("warm", { id: "warm" });
  await (await queue.dequeue())[0]?.complete();
  await queue.get("warm");
});

test("reading a task costs 3, an ended one 2; a wait or watch reads an ended one once", async () => {
  const { queue, cost } = billed;
  await queue.enqueue(1, { id: "a" });
  expect(await cost(() => queue.wait("a", { for: 0 }))).toBe(3);
  await queue.dequeue();
  expect(await cost(() => queue.wait("a", { for: 0 }))).toBe(3);
  expect(await cost(() => queue.wait("warm"))).toBe(2);
  const reported = async () => {
    for await (const event of queue.watch("warm")) expect(event.event).toBe("end");
  };
  expect(await cost(reported)).toBe(2);
});

test("listening to a queue's events costs 1, for any number of events", async () => {
  const { queue, operator, cost } = billed;
  await operator.configure({ events: true });
  const leaving = new AbortController();
  let events: AsyncIterator<unknown> | undefined;
  const listen = async () => {
    events = (await queue.events({ signal: leaving.signal }))[Symbol.asyncIterator]();
  };
  expect(await cost(listen)).toBe(1);
  for (const id of ["a", "b"]) await queue.enqueue(1, { id });
  expect(await cost(async () => [await events?.next(), await events?.next()])).toBe(0);
  leaving.abort();
});
