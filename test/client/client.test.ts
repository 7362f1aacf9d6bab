import { build } from "esbuild";
import { runInNewContext } from "node:vm";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { createClient, ListedQueues } from "../../src/client/index.ts";
import { drain } from "../../src/drain/drain.ts";
import { RetryAfter } from "../../src/drain/failures.ts";
import { type Backoff, sweep } from "../../src/index.ts";
import { secrets } from "../http/served.ts";
import { useServer } from "./rig.ts";

const server = useServer();

describe("the client itself", () => {
  test("lists the queues that its token may operate, page by page, with their counts on request", async () => {
    await server.direct("mails-a").enqueue(1);
    await server.direct("mails-b").enqueueMany([{ payload: 1 }, { payload: 2, delay: "1h" }]);
    await server.direct("other").enqueue(1);
    const client = server.client({}, "mails");
    const queues: ListedQueues["queues"][number][] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await client.listQueues({ cursor: cursor ?? undefined, size: 1, counts: true });
      queues.push(...page.queues);
      cursor = page.cursor;
    }
    expect(queues.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toMatchObject([
      { name: "mails-a", counts: { pending: 1, delayed: 0 } },
      { name: "mails-b", counts: { pending: 1, delayed: 1 } },
    ]);
    const [plain] = (await client.listQueues()).queues;
    expect(plain).not.toHaveProperty("counts");
    for (const [path, page] of [
      ["szie", { szie: 1 }],
      ["size", { size: 0 }],
      ["counts", { counts: "all" }],
    ] as const)
      await expect(client.listQueues(page as never)).rejects.toMatchObject({
        code: "invalid_argument",
        path,
      });
  });

  test("sweeps: the counts come back, and a token without the scope is refused", async () => {
    await server.direct("emails").enqueue(1, { lease: 1 });
    await server.direct("emails", { now: () => Date.now() - 60_000 }).dequeue();
    const swept = await server.client().sweep({ budget: "5s" });
    expect(swept).toEqual({ ...(await sweep(server.transport())), reclaimed: 1 });
    expect((await server.client({}, "cron").sweep()).reclaimed).toBe(0);
    await expect(server.client({}, "consume").sweep()).rejects.toMatchObject({ code: "unauthorized" });
    await expect(server.client().sweep({ budget: "2m" })).rejects.toMatchObject({ path: "budget" });
    await expect(server.client().sweep({ bugdet: "1s" } as never)).rejects.toMatchObject({ path: "bugdet" });
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

  test.each<[string, Backoff | true, most: number]>([
    ["the default", true, 30_000],
    ["a list", ["1h", "2h"], 7_200_000],
    ["a function, with its fractions rounded", (attempt) => attempt ** 2 * 3_600_000 - 0.4, 14_400_000],
    ["an exponential", { base: "1h", factor: 3, most: "9h" }, 10_800_000],
  ])("has tasks wait by their charged attempts: %s", async (_, backoff, most) => {
    const queue = server.client().queue("emails");
    await queue.enqueue("x", { id: "a" });
    for (const requeue of [{ unstarted: true }, { count: false }, {}, { backoff }])
      await (await queue.dequeue())[0]?.requeue(requeue);
    const { dueAt = Number.NaN, requeuedAt = Number.NaN } = (await queue.get("a")) ?? {};
    expect(dueAt - requeuedAt).toBeGreaterThanOrEqual(most / 2);
    expect(dueAt - requeuedAt).toBeLessThanOrEqual(most);
  });

  test("refuses what a backoff function may not return, before anything is sent", async () => {
    const queue = server.client().queue("emails");
    await queue.enqueue("x", { id: "a" });
    const [task] = await queue.dequeue();
    for (const returned of [Number.NaN, -1, Promise.resolve(1), "soon"]) {
      const refused = task?.requeue({ backoff: () => returned as number });
      await expect(refused).rejects.toMatchObject({ code: "invalid_argument", path: "backoff" });
    }
    expect(server.way().copies.length).toBe(2);
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
    const at = Date.now() + 3_600_000;
    const numbers = Array.from({ length: 50 }, (_, i) => i);
    await queue.enqueueMany(numbers.slice(0, 48).map((payload) => ({ payload, at })));
    await queue.enqueue(48, { at });
    await queue.enqueue(49, { at });
    const due = await server.direct<number>("emails", { now: () => at }).dequeue({ max: 100 });
    expect(due.map(({ payload }) => payload)).toEqual(numbers);
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

test("a drain over HTTP pauses its queue if a handler asks for it, though its token cannot operate the queue", async () => {
  const direct = server.direct("emails");
  await direct.enqueueMany([{ payload: 1 }, { payload: 2 }]);
  const queue = server.client({}, "consume").queue("emails");
  const handler = () => {
    throw new RetryAfter("1h", { queue: true });
  };
  const options = { concurrency: 1, batch: 1 };
  const report = await drain(queue, handler, options);
  const { pausedUntil, nextDueAt, ...counts } = await direct.counts();
  expect(report).toMatchObject({ requeued: 1, ended: "paused", nextDueAt });
  expect(counts).toMatchObject({ pending: 1, delayed: 1, paused: true });
  const again = await drain(queue, handler, options);
  expect(again).toMatchObject({ requeued: 0, ended: "paused", nextDueAt: pausedUntil });
  await expect(queue.settle([{ receipt: "x", outcome: "requeue", queue: 1 as never }])).rejects.toThrow(
    /settlements\[0\]\.queue must be true or false/,
  );
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

  const timers = { clearTimeout, performance, setTimeout };
  const web = { AbortController, TextEncoder, URL, URLSearchParams, atob, btoa, crypto, fetch };
  const platform = { ...timers, ...web };
  const { sluice } = runInNewContext(`${outputFiles[0]?.text};({ sluice })`, platform) as {
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
