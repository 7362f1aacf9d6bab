import { build } from "esbuild";
import { runInNewContext } from "node:vm";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { createClient } from "../../src/client/index.ts";
import { drain } from "../../src/consumer/drain/drain.ts";
import { type Backoff, sweep } from "../../src/index.ts";
import { pause } from "../consumer/draining.ts";
import { secrets } from "../http/served.ts";
import { many } from "../support/new-tasks.ts";
import { useServer } from "./rig.ts";

const server = useServer();

/** A receipt of no lease. */
const receipt = "1.1.999.abcdefgh.a";

describe("the client itself", () => {
  test("lists the queues that its token may operate, page by page", async () => {
    for (const name of ["mails-a", "mails-b", "other"]) await server.direct(name).enqueue(1);
    const client = server.client({}, "mails");
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await client.listQueues({ cursor, size: 1 });
      names.push(...page.queues.map(({ name }) => name));
      cursor = page.cursor ?? undefined;
    } while (cursor !== undefined);
    expect(names.toSorted()).toEqual(["mails-a", "mails-b"]);
  });

  test("lists queues with their counts on request", async () => {
    await server.direct("counted-a").enqueue(1);
    await server.direct("counted-b").enqueueMany([{ payload: 1 }, { payload: 2, delay: "1h" }]);
    const { queues } = await server.client().listQueues({ counts: true });
    expect(new Map(queues.map(({ name, counts }) => [name, [counts?.pending, counts?.delayed]]))).toEqual(
      new Map([
        ["counted-a", [1, 0]],
        ["counted-b", [1, 1]],
      ]),
    );
    const [plain] = (await server.client().listQueues()).queues;
    expect(plain).not.toHaveProperty("counts");
  });

  test("sweeps: the counts come back, and a token without the scope is refused", async () => {
    await server.direct("emails").enqueue(1, { id: "a", lease: 1 });
    await server.direct("emails").dequeue();
    const deadlineAt = (await server.direct("emails").get("a"))?.deadlineAt ?? Number.NaN;
    await expect.poll(() => Date.now() - deadlineAt).toBeGreaterThan(0);
    const swept = await server.client().sweep({ budget: "5s" });
    expect(swept).toEqual({ ...(await sweep(server.transport())), reclaimed: 1 });
    expect((await server.client({}, "cron").sweep()).reclaimed).toBe(0);
    await expect(server.client({}, "consume").sweep()).rejects.toMatchObject({ code: "unauthorized" });
    await expect(server.client().sweep({ budget: "2m" })).rejects.toMatchObject({ path: "budget" });
    await expect(server.client().sweep({ bugdet: "1s" } as never)).rejects.toMatchObject({ path: "bugdet" });
  });

  test("lets a sweep take its budget, even if that is longer than tryTimeout", async () => {
    const client = server.client({
      retry: { tryTimeout: 1_000, deadline: 1_000 },
      fetch: async (url, init) => {
        await pause(1_500);
        return fetch(url, init);
      },
    });
    expect(await client.sweep({ budget: "5s" })).toEqual(await sweep(server.transport()));
    expect(server.way().copies.length).toBe(1);
  });

  test("reaches a server below a path, through the caller's fetch", async () => {
    const asked: string[] = [];
    const client = server.client({
      url: "https://gateway.example/queues//",
      fetch(url, init) {
        asked.push(url);
        return fetch(url.replace("https://gateway.example/queues", server.way().url), init);
      },
    });
    await client.queue("emails").enqueue(1, { id: "a/b" });
    expect((await client.queue("emails").get("a/b"))?.state).toBe("pending");
    expect(asked).toEqual([
      "https://gateway.example/queues/v1/queues/emails/tasks",
      "https://gateway.example/queues/v1/queues/emails/tasks/a%2Fb",
    ]);
  });

  test("calls a backoff function itself, with the number of the attempt", async () => {
    const queue = server.client().queue("emails");
    await queue.enqueue("x", { id: "a" });
    const reported: number[] = [];
    const backoff = (attempt: number) => (reported.push(attempt), attempt === 1 ? 0 : "1h");
    for (let turn = 1; turn <= 2; turn++) await (await queue.dequeue())[0]?.requeue({ backoff });
    expect([reported, (await queue.get("a"))?.state]).toEqual([[1, 2], "delayed"]);
  });

  test.each<[string, Backoff]>([
    ["a list", ["1h", "2h"]],
    ["a function, with its fractions rounded", (attempt) => attempt * 3_600_000 - 0.4],
    ["an exponential", { base: "1h", factor: 3, most: "9h" }],
  ])("has tasks wait by their charged attempts: %s", async (_, backoff) => {
    const queue = server.client().queue("emails");
    await queue.enqueue("x", { id: "a" });
    await (await queue.dequeue())[0]?.requeue({ unstarted: true });
    await (await queue.dequeue())[0]?.requeue({ count: false });
    await (await queue.dequeue())[0]?.requeue({ backoff });
    const { dueAt = Number.NaN, requeuedAt = Number.NaN } = (await queue.get("a")) ?? {};
    expect(dueAt - requeuedAt).toBeGreaterThanOrEqual(1_800_000);
    expect(dueAt - requeuedAt).toBeLessThanOrEqual(3_600_000);
  });

  test("refuses what a backoff function may not return, before anything is sent", async () => {
    const queue = server.client().queue("emails");
    await queue.enqueue("x", { id: "a" });
    const [task] = await queue.dequeue();
    for (const returned of [Number.NaN, -1, Promise.resolve(1), "soon"]) {
      const refused = task?.requeue({ backoff: () => returned as number });
      await expect(refused).rejects.toMatchObject({ code: "invalid_argument", path: "backoff" });
    }
    expect((await queue.get("a"))?.state).toBe("working");
  });

  test("gives a queue's `unique` to tasks with an id of their own, without `again`", async () => {
    const queue = server.client().queue("emails", { unique: "24h" });
    const { id } = await queue.enqueue("generated");
    await queue.enqueueMany([
      { payload: 1, id: "own" },
      { payload: 1, id: "shorter", unique: "2h" },
      { payload: 1, id: "again", again: true },
    ]);
    const [outcome] = await server.redis("HMGET", "sluice:{emails}:tasks", id, "own", "shorter", "again");
    const records = outcome && "reply" in outcome ? (outcome.reply as string[]) : [];
    const times = records.map((record) => /;U=(\d+)/.exec(record)?.[1]);
    expect(times).toEqual([undefined, "86400000", "7200000", undefined]);
  });

  test("makes ids in rising order: tasks due in the same millisecond come in the order of their enqueue", async () => {
    const queue = server.client().queue<number>("emails");
    const at = Date.now() + 300;
    const numbers = Array.from({ length: 50 }, (_, i) => i);
    await queue.enqueueMany(numbers.slice(0, 48).map((payload) => ({ payload, at })));
    await queue.enqueue(48, { at });
    await queue.enqueue(49, { at });
    await expect.poll(async () => (await queue.counts()).nextDueAt).toBe(at);
    await expect.poll(() => Date.now()).toBeGreaterThan(at);
    expect((await queue.dequeue({ max: 100 })).map(({ payload }) => payload)).toEqual(numbers);
  });
});

/** The wait that is left when the first copy is sent: on a busy machine some ms have passed. */
const nearly = (wait: number) =>
  expect.toSatisfy((left: number) => left <= wait && left > wait - Math.min(wait, 500));

describe("a dequeue that waits", () => {
  const waits = () => server.way().copies.map(({ body }) => (JSON.parse(body) as { wait?: number }).wait);

  test("is answered as soon as there is a task", async () => {
    const pulled = server.client().queue("emails").dequeue({ wait: "30s" });
    await expect.poll(() => server.way().copies.length).toBe(1);
    await server.direct("emails").enqueue("x", { id: "a" });
    expect((await pulled).map(({ id }) => id)).toEqual(["a"]);
    expect(waits()).toEqual([nearly(30_000)]);
  });

  test("may wait longer than tryTimeout, and then returns no tasks", async () => {
    const queue = server.client({ retry: { tryTimeout: 1_000, deadline: 1_000 } }).queue("emails");
    expect(await queue.dequeue({ wait: 1_500 })).toMatchObject({ length: 0, nextDueAt: null, paused: false });
    expect(waits()).toEqual([nearly(1_500)]);
  });

  test("with settlements may wait longer than tryTimeout, too", async () => {
    const queue = server.client({ retry: { tryTimeout: 1_000, deadline: 1_000 } }).queue("emails");
    const { settled, tasks } = await queue.settleAndDequeue([{ receipt, outcome: "complete" }], {
      wait: 1_500,
    });
    expect(settled).toEqual([{ receipt, ok: false, code: "lease_lost" }]);
    expect(tasks).toMatchObject({ length: 0, nextDueAt: null, paused: false });
    expect(server.way().copies.length).toBe(1);
  });

  test("whose answer is lost gets the same tasks again", async () => {
    server.way().faults = ["lost reply"];
    const pulled = server.client().queue("emails").dequeue({ wait: "30s", max: 2 });
    await expect.poll(() => server.way().copies.length).toBe(1);
    await server.direct("emails").enqueueMany([{ payload: 1 }, { payload: 2 }]);
    const tasks = await pulled;
    expect(tasks.map(({ payload, attempt }) => [payload, attempt])).toEqual([
      [1, 1],
      [2, 1],
    ]);
    expect(await server.direct("emails").counts()).toMatchObject({ pending: 0, working: 2 });
  });

  test("waits only for the time left in its further copies, in settleAndDequeue too", async () => {
    const queue = server.client().queue("emails");
    server.way().faults = [{ status: 503, headers: { "retry-after": "1" } }];
    await queue.dequeue({ wait: 1_100 });
    const [first, second = 0] = waits();
    expect(first).toEqual(nearly(1_100));
    expect(second).toBeLessThanOrEqual(100);

    const { copies } = server.way();
    copies.length = 0;
    const { settled, tasks } = await queue.settleAndDequeue([{ receipt, outcome: "complete" }], {
      wait: 100,
    });
    expect([settled, [...tasks]]).toEqual([[{ receipt, ok: false, code: "lease_lost" }], []]);
    expect(copies.map(({ body }) => (JSON.parse(body) as { pull: object }).pull)).toMatchObject([
      { wait: nearly(100) },
    ]);
  });

  test("starts again at most ten times if no task fits the schema", async () => {
    await server.direct("emails").enqueueMany(many(15));
    const queue = server.client().queue("emails", { schema: z.string() });
    expect(await queue.dequeue()).toHaveLength(0);
    expect(await server.direct("emails").counts()).toMatchObject({ pending: 4, working: 0, rejected: 11 });
  });

  test("returns the readable tasks, and throws if none of its tasks can be read", async () => {
    const task = { id: "a", receipt, attempt: 1, enqueuedAt: 1, deadlineAt: 2, leasedFor: 1 };
    const broken = { ...task, payload: "no base64!", encoding: "base64" };
    const pulled = (...tasks: object[]) => ({
      status: 200,
      body: JSON.stringify({ tasks, nextDueAt: null, paused: false }),
    });
    server.way().faults = [pulled(broken), pulled(broken, { ...task, payload: "x" })];
    const queue = server.client().queue("emails");
    await expect(queue.dequeue()).rejects.toMatchObject({ code: "unexpected_reply" });
    expect((await queue.dequeue({ max: 2 })).map(({ payload }) => payload)).toEqual(["x"]);
  });

  test("for too long is refused by the server", async () => {
    const dequeue = server.client().queue("emails").dequeue({ wait: "2m" });
    await expect(dequeue).rejects.toMatchObject({ code: "invalid_argument", path: "wait" });
    expect(server.way().copies.length).toBe(1);
  });
});

test("a drain over HTTP handles each task once, whatever faults its requests meet", async () => {
  const numbers = Array.from({ length: 60 }, (_, i) => i);
  await server.direct("emails").enqueueMany(numbers.map((payload) => ({ id: `n${payload}`, payload })));
  const mishaps = ["lost reply", "reset", { status: 502 }, "cut body", { late: 2 }] as const;
  server.way().faults = mishaps.flatMap((fault) => [fault, undefined]);
  const handled: number[] = [];
  const queue = server.client().queue<number>("emails");
  const report = await drain(queue, ({ payload }) => void handled.push(payload), { batch: 10 });
  expect(report).toMatchObject({ completed: 60, requeued: 0, rejected: 0, lost: 0, ended: "empty" });
  expect(handled.toSorted((a, b) => a - b)).toEqual(numbers);
  expect(server.way().faults).toEqual([]);
  expect(await server.direct("emails").counts()).toMatchObject({ pending: 0, working: 0, rejected: 0 });
});

test("the client uses only what browsers and edge functions have", async () => {
  const { outputFiles, metafile } = await build({
    entryPoints: [fileURLToPath(new URL("../../src/client/index.ts", import.meta.url))],
    bundle: true,
    platform: "neutral",
    format: "iife",
    globalName: "sluice",
    metafile: true,
    write: false,
  });
  expect(
    Object.values(metafile.inputs).flatMap((input) => input.imports.filter((one) => one.external)),
  ).toEqual([]);
  expect(Object.keys(metafile.inputs).filter((file) => file.includes("node_modules"))).toEqual([]);

  const platform = {
    AbortController,
    TextEncoder,
    URL,
    URLSearchParams,
    atob,
    btoa,
    clearTimeout,
    crypto,
    fetch,
    performance,
    setTimeout,
  };
  const { sluice } = runInNewContext(`${outputFiles[0]?.text};({ sluice })`, { ...platform }) as {
    sluice: { createClient: typeof createClient };
  };
  const client = sluice.createClient({ url: server.way().url, token: secrets.all, retry: {} });
  const queue = client.queue("emails");
  server.way().faults = [undefined, "reset"];
  await queue.enqueue("x", { id: "a" });
  const [task] = await queue.dequeue();
  expect(await task?.complete("done")).toMatchObject({ ok: true, state: "completed" });
  expect(await queue.wait("a")).toMatchObject({ state: "completed", result: "done" });
  expect(await client.listQueues()).toMatchObject({ cursor: null });
});
