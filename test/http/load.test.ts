import { describe, expect, it } from "vitest";
import { queueKeys } from "../../src/queue/core/keys.ts";
import { resp } from "../../src/transport/resp.ts";
import { expectProblem, servedQueue } from "./served.ts";

const { ask, queue, redis, path, enqueue, pull } = servedQueue();
const load = async () => (await ask("GET", `${path()}/load`)).body;

describe("GET /v1/queues/:queue/load", () => {
  it("has numbers to scale by: working tasks count as backlog, and pending ones are divided by the workers that gave a name", async () => {
    const of = { queue: queue(), paused: false, perMinute: { enqueued: 0, completed: 0 } };
    const none = { pending: 0, working: 0, backlog: 0, workers: 0, perWorker: 0, oldestAge: 0 };
    expect(await load()).toMatchObject({ ...of, ...none });
    await enqueue({ tasks: Array.from({ length: 8 }, () => ({ payload: 1 })) });
    expect(await load()).toMatchObject({ pending: 8, working: 0, backlog: 8, workers: 0, perWorker: 8 });
    await pull({ worker: { name: "a" } });
    await pull({ max: 2, worker: { name: "b" } });
    const { oldestAge, ...rest } = await load();
    expect(rest).toMatchObject({ pending: 5, working: 3, backlog: 8, workers: 2, perWorker: 2.5 });
    expect(oldestAge).toBeGreaterThanOrEqual(0);
  });

  it("asks for no consumer for pending tasks while the queue is paused", async () => {
    await enqueue({ tasks: [{ payload: 1 }, { payload: 2 }, { payload: 3 }] });
    await pull();
    await ask("POST", `${path()}/pause`);
    expect(await load()).toMatchObject({ pending: 2, working: 1, paused: true, backlog: 1, perWorker: 0 });
  });

  it("has the rates of a queue that keeps statistics", async () => {
    await ask("PATCH", `${path()}/settings`, { json: { statistics: true } });
    const minute = Math.floor(Date.now() / 60_000);
    const client = resp(redis().url);
    const record = (of: number) => `1;${of};enqueued=10;completed=5`;
    const fields = [1, 2, 3].flatMap((ago) => [`~m${(minute - ago) % 60}`, record(minute - ago)]);
    await client.send([["HSET", queueKeys(queue()).tasks, ...fields]]);
    await client.close();
    // At the turn of a minute the three are still among the last five.
    expect((await load()).perMinute).toEqual({ enqueued: 6, completed: 3 });
  });

  it("reports a queue that a later release wrote", async () => {
    const client = resp(redis().url);
    await client.send([["HSET", queueKeys(queue()).tasks, "~set", "2;p=1"]]);
    await client.close();
    expectProblem(await ask("GET", `${path()}/load`), "newer_schema");
  });
});
