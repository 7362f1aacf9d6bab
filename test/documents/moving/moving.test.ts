// What the pages on moving promise of the code that they show.
import { Client } from "@upstash/qstash";
import type { ServiceOptions } from "sluice-queue/cloudflare";
import { testDeployment, testQueue, type TestDeployment } from "sluice-queue/testing";
import { afterEach, expect, test, vi } from "vitest";
import { answerRequests } from "../recipes/requests.ts";
import { filesOf } from "../code.ts";

const over = vi.hoisted(() => ({
  transport: undefined as unknown,
  serve: (_: object): unknown => undefined,
}));
vi.mock("sluice-queue/upstash", () => ({ upstash: () => over.transport }));
vi.mock("sluice-queue/node", () => ({ serve: (options: object) => over.serve(options) }));

const file = filesOf("moving");
const { emails: bullmqEmails } = await file("bullmq-emails.ts");
const { retryAll, signUp } = await file("bullmq-producer.ts");
const { default: cloudflareApp, emails: cloudflareEmails } = await file("cloudflare-queues.ts");
const { default: unchangedWorker } = await file("cloudflare-unchanged.ts");
const { GET } = await file("qstash.ts");
const { copy } = await file("qstash-copy.ts");
const { cron } = await file("sqs-unchanged.ts");
const { handler: lambdaApp, emails: sqsEmails } = await file("sqs.ts");

afterEach(() => void vi.restoreAllMocks());

const quietly = () => vi.spyOn(console, "error").mockImplementation(() => {});

/** When a failing service got the requests of one task, ms after the first one. */
async function attemptsOf(
  deployment: Pick<TestDeployment, "now" | "runToEnd">,
  status = 503,
): Promise<number[]> {
  const at: number[] = [];
  answerRequests(() => {
    at.push(deployment.now);
    return new Response(null, { status });
  });
  await deployment.runToEnd();
  return at.map((one) => one - (at[0] ?? 0));
}

test("the queue that was BullMQ's delays, retries, schedules and reports as before", async () => {
  const log = quietly();
  let deployment = undefined as unknown as TestDeployment<object>;
  // Its schedule is due on Mondays.
  const now = Date.parse("2026-11-24T12:00Z");
  over.serve = (options) => (deployment = testDeployment(options as ServiceOptions<object>, { now }));
  await file("bullmq-worker.ts");
  const start = deployment.now;
  await signUp("17", "a@example.com");
  expect(await deployment.tasks(bullmqEmails)).toMatchObject([{ id: "welcome-17", dueAt: start + 600_000 }]);
  const expectAttempts = async () => {
    const at = await attemptsOf(deployment);
    expect(at).toHaveLength(5);
    for (const [i, one] of [0, 1_000, 3_000, 7_000, 15_000].entries()) {
      expect(at[i]).toBeLessThanOrEqual(one);
      expect(at[i]).toBeGreaterThanOrEqual(one / 2);
    }
  };
  await expectAttempts();
  expect(log).toHaveBeenCalledWith("welcome-17", "attempts_exhausted", "HTTP 503");
  const schedules = await deployment.tools().schedules(bullmqEmails).list();
  expect(schedules.schedules).toMatchObject([{ name: "digest" }]);

  await retryAll(deployment.transport);
  // The backoff begins again.
  await expectAttempts();
});

test("an unchanged handler of SQS works on tasks, and its failures are tried again", async () => {
  const emails = testQueue("emails");
  over.transport = emails.transport;
  let down = true;
  const sent = answerRequests(() => new Response(null, { status: down ? 503 : 200 }));
  await emails.enqueue({ to: "a@example.com" });
  await emails.enqueue("a text");
  expect(await cron()).toMatchObject({ requeued: 2, completed: 0 });
  down = false;
  await emails.advance("10s");
  expect(await cron()).toMatchObject({ completed: 2 });
  expect(
    sent
      .map(({ body }) => body)
      .toSorted()
      .slice(2),
  ).toEqual(['{"to":"a@example.com"}', '{"to":"a@example.com"}']);
});

test("an unchanged consumer of Cloudflare Queues works on tasks, and its retries wait", async () => {
  const emails = testQueue<{ to: string }>("emails");
  over.transport = emails.transport;
  let down = true;
  const sent = answerRequests(() => new Response(null, { status: down ? 503 : 200 }));
  const pending: Promise<unknown>[] = [];
  const ctx = {
    waitUntil: (work: Promise<unknown>) => void pending.push(work),
    passThroughOnException() {},
    props: {},
  };
  const env = { UPSTASH_REDIS_REST_URL: "", UPSTASH_REDIS_REST_TOKEN: "", MAIL_URL: "https://mail.test" };
  const response = await unchangedWorker.fetch(new Request("https://app.test/?to=a@example.com"), env, ctx);
  expect(response.status).toBe(200);
  await Promise.all(pending);
  expect(await emails.tasks()).toMatchObject([{ state: "delayed", dueAt: emails.now + 60_000 }]);
  down = false;
  await emails.advance("1m");
  await unchangedWorker.scheduled({}, env, ctx);
  expect(sent.map(({ url }) => url)).toEqual(["https://mail.test/", "https://mail.test/"]);
  expect(await emails.tasks()).toMatchObject([{ state: "completed" }]);
});

test.each([
  { status: 503, minutes: [0, 1, 2, 3] },
  { status: 429, minutes: [0, 5, 10, 15] },
])(
  "what was a Cloudflare consumer tries again after HTTP $status as its retry did",
  async ({ status, minutes }) => {
    const log = quietly();
    const deployment = testDeployment(cloudflareApp, { env: { MAIL_URL: "https://mail.test" } });
    await deployment.queue(cloudflareEmails).enqueue({ to: "a@example.com" }, { id: "m-1" });
    expect(await attemptsOf(deployment, status)).toEqual(minutes.map((one) => one * 60_000));
    expect(log).toHaveBeenCalledWith("m-1", expect.anything());
  },
);

test("what was a function of SQS makes a dead letter after five attempts", async () => {
  const log = quietly();
  const deployment = testDeployment(lambdaApp);
  const body = JSON.stringify({ user: "17", to: "a@example.com" });
  await deployment.fetch("/", { method: "POST", body });
  expect(await deployment.tasks(sqsEmails)).toMatchObject([{ dueAt: deployment.now + 600_000, group: "17" }]);
  expect(await attemptsOf(deployment)).toHaveLength(5);
  expect(log).toHaveBeenCalledWith("welcome-17", "HTTP 503");
});

test("what QStash has is copied, and its client publishes by changing where it sends to", async () => {
  const QSTASH_TOKEN = "qstash-0123456789abcdef";
  const keys = { QSTASH_CURRENT_SIGNING_KEY: "sig_1", QSTASH_NEXT_SIGNING_KEY: "sig_2" };
  const deployments = ["there", "here"].map(() => testDeployment(GET, { env: { QSTASH_TOKEN, ...keys } }));
  const [there, here] = deployments.map((_, i) => {
    const options = { retry: false, devMode: false, enableTelemetry: false } as const;
    return new Client({ baseUrl: `https://q${i}.test`, token: QSTASH_TOKEN, ...options });
  }) as [Client, Client];
  vi.spyOn(globalThis, "fetch").mockImplementation((to, init) => {
    const { host, pathname, search } = new URL(new Request(to).url);
    return (deployments[Number(host[1])] as TestDeployment<object>).fetch(pathname + search, init);
  });

  const url = "https://api.example.com/hook";
  await there.urlGroups.addEndpoints({ name: "orders", endpoints: [{ name: "hook", url }] });
  await there.queue({ queueName: "reports" }).upsert({ parallelism: 3, paused: true });
  await there.schedules.create({
    scheduleId: "digest",
    destination: "orders",
    cron: "CRON_TZ=Europe/Berlin 0 9 * * 1",
    body: "17",
    headers: { "x-own": "1" },
    method: "PUT",
    delay: 60,
    retries: 2,
    retryDelay: "1000",
    callback: url,
    failureCallback: url,
    label: ["a", "b"],
    flowControl: { key: "digests", rate: 5, period: 60 },
  });
  await there.schedules.create({
    scheduleId: "report",
    destination: url,
    cron: "0 9 * * *",
    queueName: "reports",
  });
  await there.schedules.pause({ schedule: "report" });
  await copy(there, here);
  const kept = async (client: Client) => {
    const all = [client.urlGroups.list(), client.queue().list(), client.schedules.list()];
    const text = JSON.stringify(await Promise.all(all));
    return JSON.parse(text, (name, value) =>
      /^(?:created|updated)At$/.test(name) ? null : (value as unknown),
    );
  };
  expect(await kept(here)).toEqual(await kept(there));

  const { messageId } = await here.publishJSON({ url, body: { to: "a@example.com" }, delay: "1h" });
  expect(await here.messages.get(messageId)).toMatchObject({ url, body: '{"to":"a@example.com"}' });
});
