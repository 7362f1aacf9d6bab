import { operations } from "../../src/http/operations/index.ts";
import { beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { createClient, type ClientOptions, type Fetch } from "../../src/client/index.ts";
import { createApp } from "../../src/http/app.ts";
import { Queue, sweep } from "../../src/index.ts";
import { secrets, tokens, useServed } from "../http/served.ts";
import { many } from "../support/new-tasks.ts";
import { useSimulatedTime } from "../support/simulated-time.ts";

// How long a dequeue waits, and a sweep works, for a client of a server in this process.

const served = useServed();
const time = useSimulatedTime();
/** The requests that were sent: the time that they give the server, ms. */
let waits: (number | undefined)[];
/** The answers in place of the server's, in order; "lost" loses the server's. */
let mishaps: (Response | "lost")[];
let fetch: Fetch;
let direct: Queue;
let count = 0;

/** A receipt of no lease. */
const receipt = "1.1.999.abcdefgh.a";
const lost = { receipt, ok: false, code: "lease_lost" };
const none = { length: 0, nextDueAt: null, paused: false };

beforeEach(() => {
  waits = [];
  mishaps = [];
  const transport = time.through(served.transport);
  const app = createApp({ operations, transport, tokens });
  direct = new Queue(`q${count++}`, { transport });
  fetch = async (url, init) => {
    const body = JSON.parse(init.body as string) as { wait?: number; pull?: { wait?: number } };
    waits.push(body.wait ?? body.pull?.wait);
    const mishap = mishaps.shift();
    if (mishap instanceof Response) return mishap;
    const answer = await app.fetch(new Request(url, init));
    if (mishap === "lost") throw new TypeError("fetch failed");
    return answer;
  };
});

const impatient = { retry: { tryTimeout: 1_000, deadline: 1_000 } };
const client = (options: Partial<ClientOptions> = {}) =>
  createClient({ url: "https://sluice.test", token: secrets.all, fetch, ...options });
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test("a dequeue that waits is answered as soon as there is a task", async () => {
  const pulled = client().queue(direct.name).dequeue({ wait: "30s" });
  await pause(10_000);
  await direct.enqueue("x", { id: "a" });
  expect([...(await pulled)]).toMatchObject([{ id: "a" }]);
  expect(waits).toEqual([30_000]);
});

test("a dequeue may wait longer than tryTimeout, and then returns no tasks, in settleAndDequeue too", async () => {
  const queue = client(impatient).queue(direct.name);
  expect(await queue.dequeue({ wait: 1_500 })).toMatchObject(none);
  const settlements = [{ receipt, outcome: "complete" }] as const;
  const { settled, tasks } = await queue.settleAndDequeue(settlements, { wait: 1_500 });
  expect([settled, tasks]).toMatchObject([[lost], none]);
  expect(waits).toEqual([1_500, 1_500]);
});

test("a dequeue whose answer is lost gets the same tasks again", async () => {
  mishaps = ["lost"];
  const pulled = client().queue(direct.name).dequeue({ wait: "30s", max: 2 });
  await pause(10_000);
  await direct.enqueueMany([{ payload: 1 }, { payload: 2 }]);
  expect([...(await pulled)]).toMatchObject([1, 2].map((payload) => ({ payload, attempt: 1 })));
  expect(await direct.counts()).toMatchObject({ pending: 0, working: 2 });
});

test("a dequeue waits only for the time left in its further copies, in settleAndDequeue too", async () => {
  const queue = client().queue(direct.name);
  const busy = () => new Response(null, { status: 503, headers: { "retry-after": "1" } });
  mishaps = [busy()];
  await queue.dequeue({ wait: 1_100 });
  mishaps = [busy()];
  await queue.settleAndDequeue([{ receipt, outcome: "complete" }], { wait: 1_100 });
  expect(waits).toEqual([1_100, 100, 1_100, 100]);
});

test("a dequeue starts again at most ten times if no task fits the schema", async () => {
  await direct.enqueueMany(many(15));
  const queue = client().queue(direct.name, { schema: z.string() });
  expect(await queue.dequeue()).toHaveLength(0);
  expect(await direct.counts()).toMatchObject({ pending: 4, working: 0, rejected: 11 });
});

test("a dequeue returns the readable tasks, and throws if none of its tasks can be read", async () => {
  const task = { id: "a", receipt, attempt: 1, enqueuedAt: 1, deadlineAt: 2, leasedFor: 1 };
  const broken = { ...task, payload: "no base64!", encoding: "base64" };
  const pulled = (...tasks: object[]) => Response.json({ tasks, nextDueAt: null, paused: false });
  mishaps = [pulled(broken), pulled(broken, { ...task, payload: "x" })];
  const queue = client().queue(direct.name);
  await expect(queue.dequeue()).rejects.toMatchObject({ code: "unexpected_reply" });
  expect([...(await queue.dequeue({ max: 2 }))]).toMatchObject([{ payload: "x" }]);
});

test("a sweep may take its budget, even if that is longer than tryTimeout", async () => {
  const slow: Fetch = async (url, init) => {
    await pause(1_500);
    return fetch(url, init);
  };
  const swept = await client({ ...impatient, fetch: slow }).sweep({ budget: "5s" });
  expect(swept).toEqual(await sweep(time.through(served.transport)));
  expect(waits).toHaveLength(1);
});
