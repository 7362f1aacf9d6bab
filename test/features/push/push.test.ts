import { Webhook } from "standardwebhooks";
import { Webhook as SvixWebhook } from "svix";
import { describe, expect, test } from "vitest";
import { type EndpointSource, push, type PushOptions } from "../../../src/features/push/index.ts";
import { drain, type EnqueueOptions, type TaskInfo } from "../../../src/index.ts";
import { START, useRig } from "../../support/rig.ts";
import { type Answer, type Receiver, startReceiver } from "./receiver.ts";

const rig = useRig();
const secret = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
const nextSecret = `whsec_${Buffer.alloc(32, 2).toString("base64")}`;
const here = { allow: ["127.0.0.1"], allowPrivate: ["127.0.0.1"] };

type Own = Partial<PushOptions<unknown, undefined>>;

/** The handler of these options. `drain` has no environment and no tools. */
const handlerOf = (options: Own) => push<unknown, never, never>(options);

/** Drains a queue with one task `event-1`, and returns what has become of it. */
async function delivered(
  receiver: Receiver,
  options: Own = {},
  { payload = { type: "paid" }, ...task }: EnqueueOptions & { payload?: unknown } = {},
): Promise<TaskInfo> {
  const queue = rig.queue();
  await queue.enqueue(payload, { id: "event-1", ...task });
  await drain(queue, handlerOf({ url: receiver.url, ...here, ...options }));
  return (await queue.get("event-1")) as TaskInfo;
}

describe("a delivery", () => {
  test("is a POST of the payload, and completes with the status and the body of the response", async () => {
    const receiver = await startReceiver({ status: 202, body: "thanks" });
    const task = await delivered(receiver);
    expect(task).toMatchObject({
      state: "completed",
      result: { status: 202, body: "thanks", truncated: false },
    });
    const [request] = receiver.requests;
    expect(request).toMatchObject({ path: "/hook", body: '{"type":"paid"}' });
    expect(request?.headers).toMatchObject({
      "content-type": "application/json",
      "user-agent": "sluice-queue",
      "webhook-id": "event-1",
    });
    expect(request?.headers).not.toHaveProperty("webhook-signature");
  });

  test("is signed, so that the verifiers of Standard Webhooks and of Svix take it, with each secret", async () => {
    const receiver = await startReceiver();
    await delivered(
      receiver,
      { secret: [secret, nextSecret] },
      { payload: { text: "\u00e9\u2028 \ud83d\ude00" } },
    );
    const [{ headers, body } = { headers: {}, body: "" }] = receiver.requests;
    for (const one of [secret, nextSecret]) {
      expect(new Webhook(one).verify(body, headers)).toEqual({ text: "\u00e9\u2028 \ud83d\ude00" });
      expect(() => new SvixWebhook(one).verify(body, headers)).not.toThrow();
    }
    const other = `whsec_${Buffer.alloc(32, 3).toString("base64")}`;
    expect(() => new Webhook(other).verify(body, headers)).toThrow("No matching signature");
    expect(() => new SvixWebhook(secret).verify(`${body} `, headers)).toThrow("No matching signature");
  });

  test("has the same id at each attempt, and its own headers, but none in place of the signature's", async () => {
    const receiver = await startReceiver(500);
    const headers = () => ({
      "X-Tenant": "a",
      "Content-Type": "application/cloudevents+json",
      "webhook-id": "other",
    });
    await delivered(receiver, { headers, body: ({ payload }) => `<${JSON.stringify(payload)}>` });
    rig.now += 60_000;
    await drain(rig.queue(), handlerOf({ url: receiver.url, ...here, headers }));
    expect(receiver.requests.map(({ headers: got }) => got["webhook-id"])).toEqual(["event-1", "event-1"]);
    const [first] = receiver.requests;
    expect(first?.body).toBe('<{"type":"paid"}>');
    expect(first?.headers).toMatchObject({ "x-tenant": "a", "content-type": "application/cloudevents+json" });
  });

  test.each([
    [null, "null"],
    ["text", '"text"'],
    [0, "0"],
  ])("of %j is JSON", async (payload, body) => {
    const receiver = await startReceiver();
    await delivered(receiver, {}, { payload });
    expect(receiver.requests[0]?.body).toBe(body);
  });

  test("of bytes needs `body`", async () => {
    const receiver = await startReceiver();
    const task = await delivered(receiver, {}, { payload: new Uint8Array(2) });
    expect(task).toMatchObject({
      state: "rejected",
      error: { message: "a payload of bytes needs the option body" },
    });
  });
});

describe("the response", () => {
  const answers: readonly [string, Answer, Own, object][] = [
    [
      "500 is tried again after the backoff",
      { status: 500, body: "down\n" },
      {},
      { error: { message: "HTTP 500: down" } },
    ],
    ["404 is tried again", 404, {}, { error: { message: "HTTP 404" } }],
    ["302 is not followed", 302, {}, { error: { message: "HTTP 302: redirects are not followed" } }],
    ["410 is a dead letter", 410, {}, { state: "rejected", error: { message: "HTTP 410" } }],
    ["404 is a dead letter with giveUpOn", 404, { giveUpOn: [404] }, { state: "rejected" }],
    ["422 is a dead letter with 4xx", 422, { giveUpOn: "4xx" }, { state: "rejected" }],
    ["429 is tried again with 4xx", 429, { giveUpOn: "4xx" }, {}],
    ["408 is tried again with 4xx", 408, { giveUpOn: "4xx" }, {}],
    [
      "500 with webhook-delivery: disable is a dead letter",
      { status: 500, headers: { "webhook-delivery": "Disable" } },
      {},
      { state: "rejected" },
    ],
    [
      "200 with webhook-delivery: disable completes",
      { status: 200, headers: { "webhook-delivery": "disable" } },
      {},
      { state: "completed" },
    ],
  ];
  test.each(answers)("%s", async (_, answer, options, expected) => {
    const task = await delivered(await startReceiver(answer), options);
    expect(task).toMatchObject({ state: "delayed", ...expected });
  });

  const inAnHour = () => new Date(Date.now() + 3_600_000).toUTCString();
  test.each<[string, () => string, number, number]>([
    ["in seconds", () => "90", 90_000, 90_000],
    ["as a date", inAnHour, 3_598_000, 3_600_000],
    ["longer than is obeyed", () => "99999999999999999999", 86_400_000, 86_400_000],
    ["of nothing", () => "0", 5_000, 10_000],
    ["in the past", () => "Sun, 06 Nov 1994 08:49:37 GMT", 5_000, 10_000],
    ["that is none", () => "soon", 5_000, 10_000],
    ["below zero", () => "-5", 5_000, 10_000],
  ])("Retry-After %s", async (_, header, least, most) => {
    const task = await delivered(await startReceiver({ status: 503, headers: { "retry-after": header() } }));
    expect(task).toMatchObject({ state: "delayed", charged: 1 });
    const delay = ((task as { dueAt?: number }).dueAt ?? 0) - START;
    expect(delay).toBeGreaterThanOrEqual(least);
    expect(delay).toBeLessThanOrEqual(most);
  });

  test("longestRetryAfter bounds it", async () => {
    const receiver = await startReceiver({ status: 429, headers: { "retry-after": "500" } });
    expect(await delivered(receiver, { longestRetryAfter: "1m" })).toMatchObject({ dueAt: START + 60_000 });
  });

  test("with a body that is too long for an error is cut in it", async () => {
    const task = await delivered(await startReceiver({ status: 500, body: "x".repeat(100_000) }));
    expect(task).toMatchObject({ error: { message: `HTTP 500: ${"x".repeat(200)}` } });
  });
});

describe("a URL for each task", () => {
  test("is that of the task", async () => {
    const receiver = await startReceiver();
    const url = ({ payload }: { payload: unknown }) => `${receiver.url}/${String(payload)}`;
    await delivered(receiver, { url }, { payload: "a" });
    expect(receiver.requests[0]?.path).toBe("/hook/a");
  });

  test("that is not allowed makes a dead letter, without a request", async () => {
    const receiver = await startReceiver();
    for (const url of ["http://169.254.169.254/", "http://example.org/", "nonsense"]) {
      const task = await delivered(receiver, { url: () => url }, { payload: url });
      expect(task).toMatchObject({
        state: "rejected",
        error: { name: "NonRetryableError", message: expect.stringMatching(/^url must/) as string },
      });
      await rig.command("FLUSHALL");
    }
    expect(receiver.requests).toEqual([]);
  });
});

describe("endpoints", () => {
  /** Endpoints of which nothing is known but this one, and the outcomes that were reported. */
  function known(find: EndpointSource["find"]) {
    const outcomes: unknown[] = [];
    const report: EndpointSource["report"] = (outcome, { task }) => outcomes.push([task.group, outcome]);
    return { outcomes, options: { url: undefined, secret, endpoints: { find, report } } as unknown as Own };
  }

  test("have a URL, secrets and headers of their own, and get each outcome", async () => {
    const receiver = await startReceiver({ status: 429, headers: { "retry-after": "7" } }, 204, 410);
    const found = { url: receiver.url, secrets: [nextSecret], headers: { "X-Own": "1" } };
    const { options, outcomes } = known(() => found);
    const queue = rig.queue();
    await queue.enqueue(1, { id: "event-1.acme", group: "acme" });
    const handler = handlerOf({ ...here, headers: { "x-own": "0" }, ...options });
    await drain(queue, handler);
    rig.now += 7_000;
    await drain(queue, handler);
    await queue.enqueue(1, { id: "event-2.acme", group: "acme" });
    await drain(queue, handler);
    expect(outcomes).toEqual([
      ["acme", { ok: false, status: 429, error: "HTTP 429", gone: false, retryAfter: 7_000 }],
      ["acme", { ok: true, status: 204, gone: false }],
      ["acme", { ok: false, status: 410, error: "HTTP 410", gone: true }],
    ]);
    const [{ headers, body } = { headers: {}, body: "" }] = receiver.requests;
    expect(headers).toMatchObject({ "x-own": "1", "webhook-id": "event-1.acme" });
    expect(new Webhook(nextSecret).verify(body, headers)).toBe(1);
    expect(() => new Webhook(secret).verify(body, headers)).toThrow("No matching signature");
  });

  test("get failures without a response too", async () => {
    const { options, outcomes } = known(() => ({ url: "http://127.0.0.2/" }));
    expect(await delivered(await startReceiver(), options)).toMatchObject({ state: "rejected" });
    const error = "url must have one of the hosts that are allowed";
    expect(outcomes).toEqual([[undefined, { ok: false, error, gone: false }]]);
  });

  test.each<[string, Own, string]>([
    [
      "a body that is no text",
      { body: () => new Uint8Array(2) as never },
      "the option body must return a text",
    ],
    ["a payload of bytes", {}, "a payload of bytes needs the option body"],
    ["no secret in the environment", { secret: () => undefined as never }, "secret must be whsec_"],
    ["headers that are none", { headers: () => ({ "a b": "c" }) }, "headers.a b must be a header of HTTP"],
  ])("get no failure of a request that cannot be made: %s", async (_, wrong, message) => {
    const receiver = await startReceiver();
    const { options, outcomes } = known(() => ({ url: receiver.url }));
    const payload = new Uint8Array(2);
    const body = wrong.body || message.startsWith("a payload") ? {} : { body: () => "1" };
    const task = await delivered(receiver, { ...options, secret: undefined, ...body, ...wrong }, { payload });
    expect(task.error).toMatchObject({ message: expect.stringContaining(message) });
    expect([outcomes, receiver.requests]).toEqual([[], []]);
  });

  test.each<[string, EndpointSource["find"], string]>([
    ["none", () => undefined, "the task has no endpoint"],
    ["one that is disabled", () => ({ url: "", disabled: true }), "the endpoint is disabled"],
    ["one that is disabled for a reason", () => ({ url: "", disabled: "paid no bill" }), "paid no bill"],
  ])("%s: the task is a dead letter, without a request", async (_, find, message) => {
    const { options, outcomes } = known(find);
    const task = await delivered(await startReceiver(), options);
    expect(task).toMatchObject({ state: "rejected", error: { message } });
    expect(outcomes).toEqual([]);
  });

  test("that are to get nothing now delay the task as they say", async () => {
    const { options } = known(() => {
      throw Object.assign(new Error("later"), { name: "RetryAfter", delay: 5_000, count: false });
    });
    const task = await delivered(await startReceiver(), options);
    expect(task).toMatchObject({ state: "delayed", dueAt: START + 5_000, charged: 0 });
  });
});

test.each<[string, object]>([
  ["push.url or endpoints must be given, and not both", {}],
  [
    "push.url or endpoints must be given, and not both",
    { url: "https://a.example.com", endpoints: { find() {} } },
  ],
  ["push.endpoints must have a function find", { endpoints: {} }],
  ["push.url must have a public host", { url: "http://10.0.0.1" }],
  ["push.allow must list the hosts that a task's URL may have", { url: () => "" }],
  ["push.secret must be whsec_", { url: "https://a.example.com", secret: "secret" }],
  ["push.secret must be whsec_", { url: "https://a.example.com", secret: [] }],
  ["push.headers.host is set by the sender itself", { url: "https://a.example.com", headers: { host: "b" } }],
  ["push.timeout must be a duration", { url: "https://a.example.com", timeout: 0 }],
  [
    "push.giveUpOn[0] must be a whole number from 400 to 499",
    { url: "https://a.example.com", giveUpOn: [500] },
  ],
  ["push.queue must be the queue", { url: "https://a.example.com", failureCallback: "results" }],
  ["push.callback must be a declared queue", { url: "https://a.example.com", callback: 1 }],
  ["push.sercet is an unknown option", { url: "https://a.example.com", sercet: "" }],
])("refuses options: %s", (message, options) => {
  expect(() => push(options)).toThrow(message);
});
