import { createClient } from "@redis/client";
import { describe, expect, it } from "vitest";
import { type Caller, expectProblem, servedQueue } from "./served.ts";

const { ask, redis, queue, enqueue, pull, get, counts } = servedQueue();

const sweep = (json?: unknown, as: Caller = "all") => ask("POST", "/v1/sweep", { json, as });

describe("queues", () => {
  it("are swept: due tasks become pending, expired leases are reclaimed or end as dead letters", async () => {
    await enqueue({
      tasks: [
        { id: "slow", payload: 2, lease: 1 },
        { id: "last", payload: 3, lease: 1, maxAttempts: 1 },
        { id: "due", payload: 1, delay: 1 },
      ],
    });
    expect((await pull({ max: 2 })).body.tasks).toHaveLength(2);
    // Redis's clock is at the next millisecond.
    await new Promise((resolve) => setTimeout(resolve, 5));
    const { status, body } = await ask("POST", "/v1/sweep", { json: { budget: "5s" } });
    expect(status).toBe(200);
    expect(body).toMatchObject({ promoted: 1, reclaimed: 1, rejected: 1, more: false, failed: [] });
    expect(await counts()).toMatchObject({
      pending: 2,
      delayed: 0,
      working: 0,
      rejected: 1,
    });
  });
});

describe("a deep sweep", () => {
  /** Removes the task from the list, as a failover might. */
  async function lose(id: string): Promise<void> {
    const client = await createClient({ url: redis().url }).connect();
    await client.lRem(`sluice:{${queue()}}:pending`, 0, id);
    await client.close();
  }

  it("puts a task that is in no list back, and says so", async () => {
    await enqueue({ tasks: ["a", "b"].map((id) => ({ id, payload: id })) });
    await lose("a");
    const { status, body } = await sweep({ deep: true, queue: queue() });
    expect([status, body]).toEqual([
      200,
      {
        queues: 1,
        entries: expect.any(Number),
        faults: [{ queue: queue(), fault: "place_missing", count: 1, ids: ["a"] }],
        failed: [],
        cursor: null,
      },
    ]);
    expect((await get("a")).body.state).toBe("pending");
    expect((await pull({ max: 2 })).body.tasks).toHaveLength(2);
    expect((await sweep({ deep: true, queue: queue() })).body.faults).toEqual([]);
  });

  it("goes through all queues that the token may sweep, from cursor to cursor", async () => {
    await enqueue({ id: "a", payload: 1 });
    await lose("a");
    const found: unknown[] = [];
    let cursor: string | undefined;
    do {
      const { body } = await sweep({ deep: true, budget: 1, examples: 0, cursor }, "cron");
      found.push(...body.faults);
      cursor = body.cursor ?? undefined;
    } while (cursor !== undefined);
    expect(found).toEqual([{ queue: queue(), fault: "place_missing", count: 1, ids: [] }]);
    expect((await counts()).pending).toBe(1);
  });

  it("leaves queues alone that the token is not for", async () => {
    await enqueue({ id: "a", payload: 1 });
    await lose("a");
    expect((await sweep({ deep: true }, "mails")).body).toMatchObject({ queues: 0, faults: [] });
    const { detail } = expectProblem(await sweep({ deep: true, queue: queue() }, "mails"), "forbidden");
    expect(detail).toBe(`The token does not have the scope admin for the queue ${queue()}.`);
    expect((await counts()).pending).toBe(0);
    expect((await sweep({ deep: true, queue: queue() }, "cron")).body.faults).toHaveLength(1);
  });
});
