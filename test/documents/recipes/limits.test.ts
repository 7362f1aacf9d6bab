// What the recipes on limits, on tenants and on fan-out promise.
import { Operator } from "sluice-queue";
import { testDeployment } from "sluice-queue/testing";
import { afterEach, expect, test, vi } from "vitest";
import { answerRequests, MailService } from "./requests.ts";
import { filesOf } from "../code.ts";

const file = filesOf("recipes");
const { default: newsletter, mails, newsletters } = await file("fan-out.ts");
const { default: geocoding, addresses } = await file("rate-limited-api.ts");
const { default: rendering, setPlan, thumbnails } = await file("tenants.ts");

afterEach(() => void vi.restoreAllMocks());

test("a service gets at most ten requests a second, and a request that it refuses costs no attempt", async () => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  const at: number[] = [];
  answerRequests(() => {
    at.push(deployment.now);
    return at.length === 3 ? new Response(null, { status: 429 }) : Response.json({ lat: 52.5, lon: 13.4 });
  });
  const deployment = testDeployment(geocoding, { env: { GEOCODER_URL: "https://geo.test" } });
  const tasks = Array.from({ length: 35 }, (_, i) => ({ payload: { address: `${i} Elm Street` } }));
  await deployment.queue(addresses).enqueueMany(tasks);
  await deployment.runToEnd();
  expect(at).toHaveLength(36);
  for (const one of at) {
    const within = at.filter((other) => other >= one && other < one + 1_000);
    expect(within.length).toBeLessThanOrEqual(10);
  }
  const done = await deployment.tasks(addresses, "completed");
  expect(done).toHaveLength(35);
  expect(done.every(({ charged, result }) => charged === 1 && result !== undefined)).toBe(true);
});

test("tenants take turns, and a larger plan gets three turns where others get one", async () => {
  const deployment = testDeployment(rendering, { env: { RENDER_URL: "https://render.test" } });
  await setPlan(deployment.transport, "large", "large");
  const queue = deployment.queue(thumbnails);
  const add = (group: string, count: number) =>
    queue.enqueueMany(Array.from({ length: count }, () => ({ group, payload: { image: group } })));
  await add("busy", 300);
  await add("small", 5);
  const first = await queue.dequeue({ max: 10 });
  expect(first.filter(({ group }) => group === "small")).toHaveLength(5);
  await queue.settle(first.map(({ receipt }) => ({ receipt, outcome: "complete" as const })));

  await add("large", 300);
  const next = await queue.dequeue({ max: 20 });
  expect(next.filter(({ group }) => group === "large")).toHaveLength(15);
});

test("a tenant on trial has at most two tasks at work, and a hundred an hour", async () => {
  const deployment = testDeployment(rendering, { env: { RENDER_URL: "https://render.test" } });
  await setPlan(deployment.transport, "trial", "trial");
  const requests = answerRequests(() => new Response());
  for (let i = 0; i < 3; i++) {
    const body = JSON.stringify({ tenant: "trial", image: "cat.png" });
    expect((await deployment.fetch("/", { method: "POST", body })).status).toBe(200);
  }
  expect(requests).toHaveLength(3);
  const tasks = Array.from({ length: 120 }, () => ({ group: "trial", payload: { image: "dog.png" } }));
  await deployment.queue(thumbnails).enqueueMany(tasks);
  expect(await deployment.queue(thumbnails).dequeue({ max: 10 })).toHaveLength(2);
  await deployment.advance("10m");
  expect(requests.length).toBeLessThanOrEqual(100);
  await deployment.runToEnd();
  expect(requests).toHaveLength(123);
  await setPlan(deployment.transport, "trial", "standard");
  const operator = new Operator(thumbnails, { transport: deployment.transport });
  expect(await operator.groupSettings("trial")).toMatchObject({ weight: 1, maxWorking: null, rate: null });
});

test("each subscriber gets one mail, although the task that splits the list fails in the middle", async () => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  const subscribers = Array.from({ length: 1_200 }, (_, i) => ({
    id: `s${1_000 + i}`,
    email: `${i}@example.com`,
  }));
  const service = new MailService();
  let pages = 0;
  answerRequests((request) => {
    const { hostname, searchParams } = new URL(request.url);
    if (hostname === "mail.test") return service.answer(request);
    if (++pages === 2) throw new TypeError("the connection broke");
    const after = searchParams.get("after") ?? "";
    return Response.json(subscribers.filter(({ id }) => id > after).slice(0, 500));
  });
  const env = { SUBSCRIBERS_URL: "https://list.test", MAIL_URL: "https://mail.test" };
  const deployment = testDeployment(newsletter, { env });
  await deployment.fetch("/?issue=may");
  await deployment.fetch("/?issue=may");
  // The first page again, as after a crash behind its last request.
  await deployment.queue(newsletters).enqueue({ issue: "may", after: "" }, { id: "may-again" });
  await deployment.runToEnd();
  expect(service.sent.size).toBe(1_200);
  expect(deployment.enqueued(mails)).toHaveLength(1_200);
  expect(await deployment.deadLetters(newsletters)).toEqual([]);
});
