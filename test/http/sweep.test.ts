import { expect, it } from "vitest";
import { type Caller, expectProblem, servedQueue } from "./served.ts";

// What a deep sweep finds. What a sweep does: test/model calls it over HTTP too.

const { ask, queue, enqueue, pull, counts, lose } = servedQueue();

const sweep = (json: object, as: Caller = "all") =>
  ask("POST", "/v1/sweep", { json: { deep: true, ...json }, as });
const missing = (ids: string[]) => ({ queue: queue(), fault: "place_missing", count: 1, ids });

it("a deep sweep puts a task that is in no list back, and says so", async () => {
  await enqueue({ tasks: ["a", "b"].map((id) => ({ id, payload: id })) });
  await lose("a");
  const found = {
    queues: 1,
    entries: expect.any(Number),
    faults: [missing(["a"])],
    failed: [],
    cursor: null,
  };
  const { status, body } = await sweep({ queue: queue() });
  expect([status, body]).toEqual([200, found]);
  expect((await pull({ max: 2 })).body.tasks).toHaveLength(2);
  expect((await sweep({ queue: queue() })).body.faults).toEqual([]);
});

it("a deep sweep goes through all queues that the token may sweep, from cursor to cursor, and leaves others alone", async () => {
  await enqueue({ id: "a", payload: 1 });
  await lose("a");
  expect((await sweep({}, "mails")).body).toMatchObject({ queues: 0, faults: [] });
  const { detail } = expectProblem(await sweep({ queue: queue() }, "mails"), "forbidden");
  expect(detail).toBe(`The token does not have the scope admin for the queue ${queue()}.`);
  expect((await counts()).pending).toBe(0);

  const found: unknown[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const { body } = await sweep({ budget: 1, examples: 0, cursor }, "cron");
    found.push(...body.faults);
    cursor = body.cursor;
  }
  expect([found, (await counts()).pending]).toEqual([[missing([])], 1]);
});
