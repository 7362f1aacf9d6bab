// What the recipes on schedules, on long work and on encryption promise.
import { createClient } from "sluice-queue/client";
import { testDeployment, testQueue } from "sluice-queue/testing";
import { afterEach, expect, test, vi } from "vitest";
import { answerRequests } from "./requests.ts";
import { filesOf } from "../code.ts";

const file = filesOf("recipes");
const { GET, results } = await file("encrypted-tasks.ts");
const { consume } = await file("long-jobs-own-consumer.ts");
const { imports, runImport } = await file("long-jobs.ts");
const { default: reporting } = await file("scheduled-reports.ts");

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const quietly = () => void vi.spyOn(console, "error").mockImplementation(() => {});

test("a report is written on each working day, and a retry writes the same one", async () => {
  quietly();
  const written: string[] = [];
  answerRequests(({ body }) => {
    const { kind, until } = JSON.parse(body) as { kind: string; until: string };
    if (kind === "daily") written.push(until);
    return new Response(null, { status: written.length === 2 ? 503 : 200 });
  });
  // Friday noon.
  const now = new Date("2026-10-23T12:00:00Z");
  const deployment = testDeployment(reporting, { env: { REPORTS_URL: "https://reports.test" }, now });
  await deployment.advance("4d");
  // In Berlin clocks are put back on that Sunday.
  expect(written).toEqual([
    "2026-10-26T06:00:00.000Z",
    "2026-10-27T06:00:00.000Z",
    "2026-10-27T06:00:00.000Z",
  ]);
});

test("an import continues where it was, after a failure and after the death of its process", async () => {
  quietly();
  const pages: number[] = [];
  answerRequests(({ url }) => {
    pages.push(Number(new URL(url).searchParams.get("page")));
    return new Response(null, { status: pages.length === 3 ? 503 : 200 });
  });
  const deployment = testDeployment({ consumers: [runImport] }, { env: { SHOP_URL: "https://shop.test" } });
  const queue = deployment.queue(imports);
  await queue.enqueue({ pages: 5 }, { id: "failing" });
  await deployment.run();
  expect(await queue.get("failing")).toMatchObject({ state: "delayed", progress: { done: 2 } });
  await deployment.runToEnd();
  expect(pages).toEqual([0, 1, 2, 2, 3, 4]);

  await queue.enqueue({ pages: 5 }, { id: "killed" });
  const [task] = await queue.dequeue();
  await task?.extend("1m", { progress: { done: 4 } });
  await deployment.advance("1m");
  expect(pages.slice(6)).toEqual([4]);
  expect(await queue.get("killed")).toMatchObject({ state: "completed", result: { pages: 5 } });
});

test("a consumer of one's own keeps its lease, and stops when its task is taken away", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const test = testQueue<{ pages: number }>("imports");
  const closing = new AbortController();
  let finish = () => {};
  const stopped: boolean[] = [];
  const run = (_: unknown, signal: AbortSignal) =>
    new Promise<string>((resolve, reject) => {
      finish = () => resolve("done");
      signal.addEventListener("abort", () => {
        stopped.push(true);
        closing.abort();
        reject(new Error("stopped"));
      });
    });
  await test.enqueue({ pages: 1 }, { id: "i-1" });
  const consuming = consume(test.queue, run, closing.signal);
  const working = () => expect.poll(() => test.tasks("working")).toHaveLength(1);
  await working();
  for (let i = 0; i < 40; i++) {
    await test.advance("15s");
    await vi.advanceTimersByTimeAsync(15_000);
    await expect.poll(async () => (await test.tasks("working"))[0]?.deadlineAt).toBe(test.now + 300_000);
  }
  await test.operator.failWorker("importer-1");
  await vi.advanceTimersByTimeAsync(15_000);
  await consuming;
  expect(stopped).toEqual([true]);
  expect(await test.tasks()).toMatchObject([{ state: "pending", attempt: 1 }]);
  finish();
  vi.useRealTimers();
});

test("neither Redis nor the HTTP interface has the text of an encrypted task", async () => {
  vi.stubEnv("RESULTS_KEY", "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=");
  const stored = answerRequests(() => new Response());
  const deployment = testDeployment(GET, { env: { RESULTS_URL: "https://results.test" } });
  const seen: string[] = [];
  const send = deployment.transport.send;
  vi.spyOn(deployment.transport, "send").mockImplementation(async (commands, options) => {
    const replies = await send(commands, options);
    seen.push(JSON.stringify([commands, replies]));
    return replies;
  });
  const sample = { sample: "s-17", patient: "Ada Lovelace", result: "positive" };
  await deployment.fetch("/", { method: "POST", body: JSON.stringify(sample) });
  expect(stored.map(({ body }) => body)).toEqual(['{"patient":"Ada Lovelace","result":"positive"}']);
  expect(seen.join("")).toContain("s-17");
  expect(seen.join("")).not.toMatch(/Lovelace|positive/);

  const client = createClient({
    url: "https://sluice.test",
    token: deployment.token,
    fetch: (url, init) => deployment.fetch(url, init),
  });
  await deployment
    .queue(results)
    .enqueue({ patient: "Ada Lovelace", result: "negative" }, { id: "s-18", delay: "1h" });
  expect(await client.queue("results", { encryption: null }).get("s-18")).toMatchObject({ state: "delayed" });
});
