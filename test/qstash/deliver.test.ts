import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { type Answer, type Received, useQStash } from "./rig.ts";

// What receivers get, and what their responses lead to.
const rig = useQStash();

const bodyOf = ({ body }: Received) => JSON.parse(body) as Record<string, unknown>;
const base64 = (text: string) => Buffer.from(text).toString("base64");

/** The state of the task of a message. */
async function taskOf(messageId: string) {
  const queue = messageId.startsWith("msg_q") ? "qstash-queues" : "qstash";
  return rig.server.queue(queue).get(messageId.slice(5));
}

test("a receiver gets the body, the forwarded headers and those of QStash, with a signature", async () => {
  const url = `${rig.url}/plain?of=a%20query&b=c`;
  const { messageId } = await rig.client.publishJSON({
    url,
    body: { hello: "wörld" },
    headers: { "My-Header": "my-value", authorization: "Bearer own" },
    method: "PUT",
  });
  expect(messageId).toMatch(/^msg_m[0-9A-Za-z]{20}$/);
  const [got] = await rig.requestsTo("/plain?of=a%20query&b=c");
  expect(got).toMatchObject({ method: "PUT", body: '{"hello":"wörld"}' });
  expect(got!.headers).toMatchObject({
    "content-type": "application/json",
    "my-header": "my-value",
    authorization: "Bearer own",
    "user-agent": "Upstash-QStash",
    "upstash-message-id": messageId,
    "upstash-retried": "0",
  });
  expect(
    Object.keys(got!.headers).filter((name) => /telemetry|upstash-(?:method|forward)/.test(name)),
  ).toEqual([]);
  await expect(rig.verify(got!, url)).resolves.toBe(true);
  await expect(rig.verify(got!, rig.url)).rejects.toThrow("invalid subject");
  await expect(rig.verify({ ...got!, body: "{}" }, url)).rejects.toThrow("body hash does not match");
  await expect.poll(() => taskOf(messageId)).toMatchObject({ state: "completed", result: { status: 200 } });
});

test("a body is sent as it is: bytes, none, and a GET without one", async () => {
  const bytes = new Uint8Array([0, 255, 1, 128, 10]);
  await rig.client.publish({ url: `${rig.url}/bytes`, body: new Blob([bytes]) });
  await rig.client.publish({ url: `${rig.url}/none`, method: "GET" });
  const [got] = await rig.requestsTo("/bytes");
  expect(got!.headers["content-length"]).toBe("5");
  const [none] = await rig.requestsTo("/none");
  expect(none).toMatchObject({ method: "GET", body: "" });
  await expect(rig.verify(none!, `${rig.url}/none`)).resolves.toBe(true);
});

test("a delivery that fails is repeated as Upstash-Retries and Upstash-Retry-Delay say; then it is a dead letter", async () => {
  rig.answer = () => ({ status: 503, headers: { "x-why": "closed" }, body: "come back" });
  const url = `${rig.url}/failing`;
  const { messageId } = await rig.client.publish({
    url,
    body: "b",
    retries: 2,
    retryDelay: "1 + retried * 2",
  });
  const got = await rig.requestsTo("/failing", 3);
  expect(got.map(({ headers }) => headers["upstash-retried"])).toEqual(["0", "1", "2"]);
  expect(new Set(got.map(({ headers }) => headers["upstash-message-id"]))).toEqual(new Set([messageId]));
  await expect
    .poll(() => taskOf(messageId))
    .toMatchObject({
      state: "rejected",
      reason: "attempts_exhausted",
      attempt: 3,
      error: {
        name: "FailedDelivery",
        message: "the receiver answered 503",
        responseStatus: 503,
        responseHeader: { "x-why": ["closed"] },
        responseBody: "come back",
      },
    });
  expect(rig.received).toHaveLength(3);
});

test.each([
  ["Retry-After", { "retry-after": "3600" }, 3_600_000],
  ["X-RateLimit-Reset as a duration", { "x-ratelimit-reset": "1h0m10s" }, 3_610_000],
  ["Retry-After of more than a day", { "retry-after": "90000" }, 12_000],
  ["none", {}, 12_000],
  ["Retry-After that is past", { "retry-after": "Sun, 06 Nov 1994 08:49:37 GMT" }, 12_000],
  ["Retry-After below zero", { "retry-after": "-1" }, 12_000],
])("the next attempt waits as the response says: %s", async (name, headers, wait) => {
  rig.answer = () => ({ status: 429, headers });
  const path = `/wait/${name.replaceAll(" ", "-")}`;
  const { messageId } = await rig.client.publish({ url: rig.url + path });
  await rig.requestsTo(path);
  await expect.poll(async () => (await taskOf(messageId))?.state).toBe("delayed");
  const { dueAt = 0, requeuedAt = 0 } = (await taskOf(messageId)) ?? {};
  expect(dueAt - requeuedAt).toBe(wait);
});

test("Retry-After of 0 asks for the next attempt at once", async () => {
  rig.answer = () => ({ status: 429, headers: { "retry-after": "0" } });
  await rig.client.publish({ url: `${rig.url}/at-once`, retries: 1 });
  await rig.requestsTo("/at-once", 2);
});

test("489, and the header Upstash-NonRetryable-Error, end a message at once", async () => {
  rig.answer = ({ path }) =>
    path === "/489" ? { status: 489 } : { status: 400, headers: { "upstash-nonretryable-error": "true" } };
  for (const path of ["/489", "/header"]) {
    const { messageId } = await rig.client.publish({
      url: rig.url + path,
      failureCallback: `${rig.url}/reports`,
    });
    await expect
      .poll(() => taskOf(messageId))
      .toMatchObject({ state: "rejected", reason: "rejected", attempt: 1 });
  }
  const reports = await rig.requestsTo("/reports", 2);
  expect(reports.map((one) => bodyOf(one)["status"])).toEqual([489, 400]);
});

test("a receiver that cannot be reached is tried again", async () => {
  const closed = createServer().listen(0, "127.0.0.1");
  await once(closed, "listening");
  const url = `http://127.0.0.1:${(closed.address() as AddressInfo).port}/`;
  closed.close();
  await once(closed, "close");
  const gone = await rig.client.publish({
    url,
    retries: 1,
    retryDelay: "1",
    failureCallback: `${rig.url}/of-gone`,
  });
  const [callback] = await rig.requestsTo("/of-gone");
  const { body, ...others } = bodyOf(callback!);
  expect(others).toMatchObject({ status: 0, url, header: {}, retried: 1, dlqId: gone.messageId });
  expect(Buffer.from(String(body), "base64").toString()).toContain("ECONNREFUSED");
  await expect.poll(() => taskOf(gone.messageId)).toMatchObject({ state: "rejected", attempt: 2 });
});

test("a callback gets each response, and a failure callback the last one, with headers of their own", async () => {
  let attempts = 0;
  rig.answer = ({ path }) => {
    if (path !== "/source") return {};
    return { status: attempts++ === 0 ? 500 : 201, headers: { "x-of": "receiver" }, body: "response" };
  };
  const source = await rig.request("POST", `/v2/publish/${rig.url}/source`, {
    body: "sent",
    headers: {
      "content-type": "text/plain",
      "upstash-retries": "1",
      "upstash-retry-delay": "1",
      "upstash-forward-x-own": "1",
      "upstash-callback": `${rig.url}/callback`,
      "upstash-callback-method": "PUT",
      "upstash-callback-forward-authorization": "of-callback",
      "upstash-failure-callback": `${rig.url}/failure`,
      "x-forwarded-for": "192.0.2.7, 10.0.0.1",
    },
  });
  const { messageId } = (await source.json()) as { messageId: string };
  const callbacks = await rig.requestsTo("/callback", 2);
  const [first, second] = callbacks.toSorted(
    (a, b) => Number(bodyOf(a)["retried"]) - Number(bodyOf(b)["retried"]),
  );
  expect(first).toMatchObject({ method: "PUT", headers: { authorization: "of-callback" } });
  expect(first!.headers["x-own"]).toBeUndefined();
  await expect(rig.verify(first!, `${rig.url}/callback`)).resolves.toBe(true);
  expect(bodyOf(first!)).toMatchObject({ status: 500, retried: 0 });
  expect(bodyOf(second!)).toEqual({
    status: 201,
    header: expect.objectContaining({ "x-of": ["receiver"] }),
    body: base64("response"),
    retried: 1,
    maxRetries: 1,
    sourceMessageId: messageId,
    url: `${rig.url}/source`,
    method: "POST",
    sourceHeader: { "content-type": ["text/plain"], "x-own": ["1"] },
    sourceBody: base64("sent"),
    notBefore: expect.stringMatching(/^\d{13}$/),
    createdAt: expect.stringMatching(/^\d{13}$/),
    callerIP: "192.0.2.7",
  });
  expect(rig.received.filter(({ path }) => path === "/failure")).toEqual([]);
});

test("a callback carries a body that is longer than what is kept of others", async () => {
  const long = "x".repeat(100_000);
  rig.answer = ({ path }) => (path === "/long" ? { body: long } : {});
  await rig.client.publish({ url: `${rig.url}/long`, callback: `${rig.url}/got-long` });
  const [callback] = await rig.requestsTo("/got-long");
  expect(bodyOf(callback!)["body"]).toBe(base64(long));
});

test("a callback carries bytes as they came, and headers with any names", async () => {
  const bytes = Buffer.alloc(300_000, 0xff);
  const headers = { constructor: "a", ["__proto__"]: "b" };
  rig.answer = ({ path }) => (path === "/bytes-back" ? { body: bytes, headers } : {});
  await rig.client.publish({ url: `${rig.url}/bytes-back`, callback: `${rig.url}/got-bytes` });
  const [callback] = await rig.requestsTo("/got-bytes");
  expect(bodyOf(callback!)["body"]).toBe(bytes.subarray(0, 262_144).toString("base64"));
  expect(Object.entries(bodyOf(callback!)["header"] as object)).toEqual(
    expect.arrayContaining([
      ["constructor", ["a"]],
      ["__proto__", ["b"]],
    ]),
  );
});

test.each([
  ["a large body", "€".repeat(262_144), {}],
  ["a callback that is too large", "", { "upstash-callback-forward-x-large": "x".repeat(700_000) }],
])("a message with %s is delivered once", async (name, body, headers) => {
  const path = `/${name.replaceAll(" ", "-")}`;
  const message = {
    url: rig.url + path,
    body,
    headers,
    retryDelay: "1",
    callback: `${rig.url}/large-source`,
  };
  rig.answer = () => ({ body: "y".repeat(262_144) });
  const [published] = (await rig.client.batch([message])) as { messageId: string }[];
  await expect.poll(() => taskOf(published!.messageId)).toMatchObject({ state: "completed" });
  expect(rig.received.filter((one) => one.path === path)).toHaveLength(1);
});

test("a message whose last attempt is lost has its failure callback, too", async () => {
  let end = () => {};
  const ended = new Promise<Answer>((resolve) => (end = () => resolve({})));
  rig.answer = ({ path }) => (path === "/lost" ? ended : {});
  const options = { url: `${rig.url}/lost`, body: "b", retries: 0, failureCallback: `${rig.url}/of-lost` };
  const { messageId } = await rig.client.publish(options);
  await rig.requestsTo("/lost");
  const operator = rig.server.operator("qstash");
  const [worker] = (await operator.workers()).workers;
  await operator.failWorker({ name: worker!.name, incarnation: worker!.incarnation });
  const [callback] = await rig.requestsTo("/of-lost");
  expect(bodyOf(callback!)).toMatchObject({
    status: 0,
    retried: 0,
    maxRetries: 0,
    sourceMessageId: messageId,
    sourceBody: base64("b"),
    dlqId: messageId,
  });
  end();
});
