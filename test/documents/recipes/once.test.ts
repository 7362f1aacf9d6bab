// What the recipes on webhooks, on mails and on work that must not be repeated promise.
import { testDeployment, testQueue } from "sluice-queue/testing";
import { Webhook } from "standardwebhooks";
import { afterEach, expect, test, vi } from "vitest";
import { answerConnections, answerRequests, MailService } from "./requests.ts";
import { filesOf } from "../code.ts";

const file = filesOf("recipes");
const { transferNext } = await file("at-most-once-own-consumer.ts");
const { default: transferring, transfers } = await file("at-most-once.ts");
const { POST: delivering, deliveries } = await file("deliver-webhooks.ts");
const { default: mailing, emails } = await file("emails-once.ts");
const { default: receiving } = await file("receive-webhooks.ts");

afterEach(() => void vi.restoreAllMocks());

/** Silences the lines about failed tasks. */
const quietly = () => {
  for (const level of ["warn", "error"] as const) vi.spyOn(console, level).mockImplementation(() => {});
};

const secret = `whsec_${btoa("a secret of the recipes' tests")}`;
const webhook = new Webhook(secret);

test("an event that its sender repeats is applied once, also if the first attempt fails", async () => {
  quietly();
  let down = true;
  const applied = answerRequests(() => new Response(null, { status: down ? 503 : 200 }));
  const env = { WEBHOOK_SECRET: secret, CRM_URL: "https://crm.test" };
  const deployment = testDeployment(receiving, { env });
  const send = (signature?: string) => {
    const [now, body] = [new Date(), JSON.stringify({ type: "invoice.paid", data: 17 })];
    const headers = {
      "webhook-id": "evt_17",
      "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
      "webhook-signature": signature ?? webhook.sign("evt_17", now, body),
    };
    return deployment.fetch("/webhooks", { method: "POST", headers, body });
  };
  expect((await send("v1,wrong")).status).toBe(401);
  expect(applied).toEqual([]);
  expect((await send()).status).toBe(204);
  down = false;
  await deployment.runToEnd();
  await deployment.advance("3d");
  expect((await send()).status).toBe(204);
  expect(applied.map(({ headers }) => headers.get("idempotency-key"))).toEqual(["evt_17", "evt_17"]);
});

test("each receiver gets a signed event, a busy one later, and one that is gone no more", async () => {
  quietly();
  const [at, accepted]: [number[], string[]] = [[], []];
  const requests = await answerConnections(({ url, headers, body }) => {
    webhook.verify(body, Object.fromEntries(headers));
    if (url.includes("gone")) return new Response(null, { status: 410 });
    if (url.includes("busy") && at.push(deployment.now) === 1)
      return new Response(null, { status: 429, headers: { "retry-after": "120" } });
    if (url.includes("down") && deployment.now < start + 3_600_000)
      return new Response(null, { status: 503 });
    accepted.push(url);
    return new Response();
  });
  const deployment = testDeployment(delivering, { env: { WEBHOOK_SECRET: secret } });
  const start = deployment.now;
  const receivers = ["fine", "busy", "down", "gone"].map((name) => ({ name, url: `https://${name}.test/` }));
  const body = JSON.stringify({ event: { id: "evt_1", type: "paid", data: 1 }, receivers });
  expect((await deployment.fetch("/", { method: "POST", body })).status).toBe(202);
  expect(accepted).toEqual(["https://fine.test/"]);
  await deployment.runToEnd();
  expect(accepted.toSorted()).toEqual(["https://busy.test/", "https://down.test/", "https://fine.test/"]);
  expect((at[1] ?? 0) - (at[0] ?? 0)).toBe(120_000);
  expect(requests.filter(({ url }) => url.includes("gone"))).toHaveLength(1);
  expect(await deployment.deadLetters(deliveries)).toMatchObject([{ id: "evt_1.gone", attempt: 1 }]);
});

test("a mail is sent once, although its worker dies after sending", async () => {
  quietly();
  const service = new MailService();
  const requests = answerRequests(service.answer);
  const env = { MAIL_URL: "https://mail.test", MAIL_KEY: "key" };
  const deployment = testDeployment(mailing, { env });
  const signUp = () =>
    deployment.fetch("/", { method: "POST", body: JSON.stringify({ user: "17", to: "ada@example.com" }) });

  // The first worker sends the mail and is killed: it never settles its task.
  await deployment.queue(emails).enqueue({ to: "ada@example.com" }, { id: "welcome-17" });
  const [task] = await deployment.queue(emails).dequeue();
  if (!task) throw new Error("no task");
  service.answer({ url: "", headers: new Headers({ "idempotency-key": task.id }), body: "" });

  await deployment.advance("1m");
  expect(requests).toHaveLength(1);
  expect(service.sent.size).toBe(1);
  expect(await deployment.tasks(emails)).toMatchObject([{ state: "completed", attempt: 2 }]);
  expect((await signUp()).status).toBe(200);
  await deployment.advance("23h");
  expect((await signUp()).status).toBe(200);
  expect(requests).toHaveLength(1);
});

test("a mail whose response is lost is sent once", async () => {
  quietly();
  const service = new MailService();
  service.breaks = true;
  const requests = answerRequests(service.answer);
  const deployment = testDeployment(mailing, { env: { MAIL_URL: "https://mail.test", MAIL_KEY: "key" } });
  const body = JSON.stringify({ user: "17", to: "ada@example.com" });
  expect((await deployment.fetch("/", { method: "POST", body })).status).toBe(201);
  service.breaks = false;
  await deployment.runToEnd();
  expect(requests.map(({ headers }) => headers.get("idempotency-key"))).toEqual(["welcome-17", "welcome-17"]);
  expect([...service.sent.keys()]).toEqual(["welcome-17"]);
});

test.each(["fails", "dies"])("a transfer whose worker %s is not made again", async (how) => {
  quietly();
  const made = answerRequests(() => new Response(null, { status: how === "fails" ? 500 : 200 }));
  const deployment = testDeployment(transferring, { env: { BANK_URL: "https://bank.test" } });
  await deployment.queue(transfers).enqueue({ to: "ada", cents: 100 }, { id: "t-1" });
  if (how === "dies") await deployment.queue(transfers).dequeue();
  await deployment.runToEnd();
  await deployment.queue(transfers).enqueue({ to: "ada", cents: 100 }, { id: "t-1" });
  await deployment.runToEnd();
  expect(made).toHaveLength(how === "fails" ? 1 : 0);
  const reason = how === "fails" ? "attempts_exhausted" : "lease_expired";
  expect(await deployment.deadLetters(transfers)).toMatchObject([{ id: "t-1", reason }]);
  expect(console.error).toHaveBeenCalledWith(
    expect.stringMatching(`^check transfer t-1: ${reason}`),
    how === "fails" ? "HTTP 500" : undefined,
  );
});

test("of two consumers that hold one task, one transfers", async () => {
  const test = testQueue<{ to: string; cents: number }>("transfers");
  const made: number[] = [];
  const transfer = async ({ cents }: { cents: number }) => void made.push(cents);
  await test.enqueue({ to: "ada", cents: 100 });
  const dequeue = test.queue.dequeue.bind(test.queue);
  // The first consumer hangs between its dequeue and its complete, until its lease is over.
  vi.spyOn(test.queue, "dequeue").mockImplementationOnce(async (options) => {
    const tasks = await dequeue(options);
    await test.advance("5m");
    await transferNext(test.queue, transfer);
    return tasks;
  });
  await transferNext(test.queue, transfer);
  expect(made).toEqual([100]);
});
