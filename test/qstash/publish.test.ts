import { expect, test } from "vitest";
import { useQStash } from "./rig.ts";

// What is published, and when it is due.
const rig = useQStash();

const messageOf = (messageId: string) => rig.client.messages.get(messageId);

test("the options of a message are those that it is published with", async () => {
  const url = `${rig.url}/later`;
  const before = Date.now();
  const { messageId } = await rig.client.publish({
    url,
    body: "text",
    headers: { "content-type": "text/plain", "x-own": "1", "x-secret": "2" },
    delay: "1h30m" as never,
    retries: 5,
    retryDelay: "pow(2, retried) * 1000",
    timeout: 20,
    callback: `${rig.url}/done`,
    failureCallback: `${rig.url}/failed`,
    label: ["one", "two"],
    redact: { header: ["x-secret"] },
    flowControl: { key: "options", rate: 10, period: "1m", parallelism: 3 },
  });
  const { createdAt, ...message } = await messageOf(messageId);
  expect(createdAt).toBeGreaterThanOrEqual(before - 1_000);
  expect(message).toMatchObject({
    messageId,
    url,
    method: "POST",
    header: {
      "content-type": ["text/plain"],
      "x-own": ["1"],
      "x-secret": [expect.stringMatching(/^REDACTED:[0-9a-f]{64}$/)],
    },
    body: "text",
    maxRetries: 5,
    retryDelayExpression: "pow(2, retried) * 1000",
    callback: `${rig.url}/done`,
    failureCallback: `${rig.url}/failed`,
    flowControlKey: "options",
    parallelism: 3,
    rate: 10,
    ratePerSecond: 10,
    period: 60,
    label: "one",
    labels: ["one", "two"],
  });
  const task = await rig.server.queue("qstash").get(messageId.slice(5));
  expect(task).toMatchObject({ state: "delayed", options: { maxAttempts: 6 }, group: "options" });
  expect((task?.dueAt ?? 0) - (task?.enqueuedAt ?? 0)).toBe(5_400_000);
});

test.each(["body, headers", "Body,header", "body,header[X-Own],header[Content-Type]"])(
  "fields that are redacted are not shown: %s",
  async (fields) => {
    const headers = { "upstash-redact-fields": fields, "upstash-forward-x-own": "1", "upstash-delay": "1h" };
    const response = await rig.request("POST", `/v2/publish/${rig.url}`, { headers, body: "secret" });
    const { body, header } = await messageOf(((await response.json()) as { messageId: string }).messageId);
    for (const value of [body, ...Object.values(header ?? {}).flat()]) expect(value).toMatch(/^REDACTED:/);
  },
);

test("Not-Before is a time, and wins over a delay", async () => {
  const at = Math.floor(Date.now() / 1_000) + 3_600;
  const { messageId } = await rig.client.publish({ url: rig.url, notBefore: at, delay: 10 });
  expect(await messageOf(messageId)).toMatchObject({ notBefore: at * 1_000 });
  expect(await rig.server.queue("qstash").get(messageId.slice(5))).toMatchObject({ dueAt: at * 1_000 });
});

test("a message with a known deduplication id, or a known content, is added once", async () => {
  const delayed = { url: `${rig.url}/once`, delay: 3_600 };
  const first = await rig.client.publish({ ...delayed, deduplicationId: "order 17/ä" });
  const again = await rig.client.publish({ ...delayed, body: "other", deduplicationId: "order 17/ä" });
  expect(first).toEqual({ messageId: first.messageId, url: delayed.url });
  expect(again).toEqual({ ...first, deduplicated: true });
  const statusOf = async (id: string) => {
    const headers = { "upstash-delay": "1h", "upstash-deduplication-id": id };
    return (await rig.request("POST", `/v2/publish/${delayed.url}`, { headers })).status;
  };
  expect([await statusOf("of status"), await statusOf("of status")]).toEqual([201, 202]);

  const publish = (body: unknown, headers = {}) =>
    rig.client.publishJSON({ ...delayed, body, headers, contentBasedDeduplication: true });
  const content = await publish({ a: 1 });
  expect(await publish({ a: 1 })).toEqual({ ...content, deduplicated: true });
  expect((await publish({ a: 2 })).messageId).not.toBe(content.messageId);
  expect((await publish({ a: 1 }, { "x-own": "1" })).messageId).not.toBe(content.messageId);
  const both = ["one", "other"].map((queueName) =>
    rig.client.queue({ queueName }).enqueue({ ...delayed, contentBasedDeduplication: true }),
  );
  expect((await Promise.all(both)).some((reply) => "deduplicated" in reply)).toBe(false);
  // Bytes, and their base64 as text.
  const headers = { "upstash-content-based-deduplication": "true", "content-type": "text/plain" };
  for (const sent of [new Uint8Array([0, 255, 1]), "AP8B"]) {
    const response = await rig.request("POST", `/v2/publish/${delayed.url}`, { headers, body: sent });
    expect(await response.json()).not.toHaveProperty("deduplicated");
  }
});

test("a batch goes to URLs and queues, and answers for each in its order", async () => {
  const published = await rig.client.batchJSON([
    { url: `${rig.url}/batch-1`, body: { n: 1 }, headers: { "x-own": "1" } },
    { url: `${rig.url}/batch-2`, body: { n: 2 }, queueName: "batch", delay: 3_600 },
    { url: `${rig.url}/batch-3`, body: "ä", deduplicationId: "batch" },
    { url: `${rig.url}/batch-3`, body: "ä", deduplicationId: "batch" },
  ]);
  const [first, second, third, fourth] = published;
  expect(published.map(({ messageId }) => messageId.slice(0, 5))).toEqual([
    "msg_m",
    "msg_q",
    "msg_m",
    "msg_m",
  ]);
  expect(fourth).toEqual({ ...third, deduplicated: true });
  const [got] = await rig.requestsTo("/batch-1");
  expect(got).toMatchObject({
    body: '{"n":1}',
    headers: { "x-own": "1", "content-type": "application/json" },
  });
  expect(got!.headers["upstash-message-id"]).toBe(first!.messageId);
  expect(await messageOf(second!.messageId)).toMatchObject({ queueName: "batch", body: '{"n":2}' });
  expect((await rig.requestsTo("/batch-3"))[0]!.body).toBe('"ä"');
});

test("a queue keeps its order, also while a message is tried again", async () => {
  const failed = new Set<string>();
  rig.answer = ({ body }) => {
    if (body !== "1" || failed.has(body)) return {};
    failed.add(body);
    return { status: 500 };
  };
  const queue = rig.client.queue({ queueName: "in-order" });
  for (const body of ["0", "1", "2", "3"]) {
    const { messageId } = await queue.enqueue({ url: `${rig.url}/ordered`, body, retryDelay: "5" });
    expect(messageId).toMatch(/^msg_q/);
  }
  const got = await rig.requestsTo("/ordered", 5);
  expect(got.map(({ body }) => body)).toEqual(["0", "1", "1", "2", "3"]);
  await expect(rig.verify(got[1]!, `${rig.url}/ordered`)).resolves.toBe(true);
});

const invalid: readonly (readonly [string, Record<string, string>, string])[] = [
  ["a delay", { "upstash-delay": "soon" }, "invalid Upstash-Delay: soon; it must be a duration"],
  ["a time", { "upstash-not-before": "-1" }, "invalid Upstash-Not-Before: -1"],
  ["retries", { "upstash-retries": "1.5" }, "invalid Upstash-Retries: 1.5; it must be a whole number"],
  ["a delay of retries", { "upstash-retry-delay": "pow(2" }, "invalid Upstash-Retry-Delay: pow(2"],
  ["code as a delay of retries", { "upstash-retry-delay": "constructor(1)" }, "invalid Upstash-Retry-Delay"],
  ["a timeout", { "upstash-timeout": "1w" }, "invalid Upstash-Timeout: 1w"],
  ["what repeats", { "upstash-cron": "* * * * *" }, "Upstash-Cron is for schedules"],
  [
    "a field to redact",
    { "upstash-redact-fields": "body,authorization" },
    "Upstash-Redact-Fields: authorization",
  ],
  ["a method", { "upstash-method": "TRACE" }, "invalid Upstash-Method: TRACE"],
  ["a callback", { "upstash-callback": "ftp://x" }, "the destination must be a URL"],
  [
    "a header of a callback",
    { "upstash-callback": "https://example.com", "upstash-callback-retries": "x" },
    "invalid Upstash-Retries: x",
  ],
  [
    "a flow control without limits",
    { "upstash-flow-control-key": "k" },
    "it must have parallelism, rate or both",
  ],
  [
    "the key of a flow control",
    { "upstash-flow-control-key": "a b", "upstash-flow-control-value": "rate=1" },
    "invalid Upstash-Flow-Control-Key",
  ],
  [
    "the limit of a flow control",
    { "upstash-flow-control-key": "k", "upstash-flow-control-value": "rate=0" },
    "it must be a whole number of at least 1",
  ],
];

test.each(invalid)("%s that is invalid is refused", async (_, headers, error) => {
  const response = await rig.request("POST", `/v2/publish/${rig.url}`, { headers });
  expect(response.status).toBe(400);
  expect(((await response.json()) as { error: string }).error).toContain(error);
});

const destinations: readonly (readonly [string, number, string])[] = [
  ["http://10.0.0.1/", 400, "the destination must have a public host"],
  ["http://169.254.169.254/latest", 400, "the destination must have a public host"],
  ["ftp://example.com", 400, "invalid destination: ftp://example.com"],
  ["no group", 400, "invalid destination: no group"],
  ["unknown", 404, "URL group unknown not found"],
  ["api/llm", 501, "the destination api/llm is not supported"],
  ["api/email", 501, "the destination api/email is not supported"],
];

test.each(destinations)("the destination %s is refused", async (url, status, message) => {
  await expect(rig.client.publish({ url })).rejects.toMatchObject({
    status,
    message: expect.stringContaining(message),
  });
  await expect(rig.client.queue({ queueName: "q" }).enqueue({ url })).rejects.toMatchObject({ status });
  // Nothing of a batch is added.
  const batch = [{ url: `${rig.url}/never` }, { url }];
  await expect(rig.client.batch(batch)).rejects.toMatchObject({ status });
  expect(rig.received).toEqual([]);
});

const wrong: readonly (readonly [string, object, string])[] = [
  ["that is too large", { body: "x".repeat(1_100_000) }, "at most 1048576 are allowed"],
  ["with too long a delay", { delay: "3651d" }, "it must be at most 3650d"],
  ["that is due too late", { notBefore: 9_999_999_999_999 }, "invalid Upstash-Not-Before"],
  ["with too many retries", { retries: 1_000_000 }, "it must be a whole number of at most 999999"],
];

test.each(wrong)("of a batch with a message %s nothing is published", async (_, message, error) => {
  const url = `${rig.url}/never`;
  const batch = [{ url }, { url, queueName: "never", ...message }];
  await expect(rig.client.batch(batch)).rejects.toThrow(new RegExp(`message 1: .*${error}`));
  expect(await rig.server.queue("qstash").counts()).toMatchObject({ pending: 0, working: 0 });
  expect(rig.received).toEqual([]);
});

test("an invalid batch is refused with the place of the mistake", async () => {
  const messages = [{ destination: rig.url }, { destination: rig.url, headers: { "Upstash-Delay": 5 } }];
  const response = await rig.request("POST", "/v2/batch", { body: JSON.stringify(messages) });
  expect(await response.text()).toContain("invalid batch: 1.headers.Upstash-Delay: ");
});

test("large messages go to many endpoints", async () => {
  const endpoints = Array.from({ length: 12 }, (_, i) => ({ url: `${rig.url}/large/${i}` }));
  await rig.client.urlGroups.addEndpoints({ name: "large", endpoints });
  const published = await rig.client.publish({ urlGroup: "large", body: "x".repeat(900_000), delay: 3_600 });
  expect(published).toHaveLength(12);
});

test("a body over the limit is refused", async () => {
  await expect(rig.client.publish({ url: rig.url, body: "x".repeat(1_100_000) })).rejects.toMatchObject({
    status: 413,
    message: expect.stringContaining("at most 1048576 are allowed"),
  });
});

test("the destination may be encoded, and a proxy may have made one slash of two", async () => {
  const delayed = { headers: { "upstash-delay": "1h" } };
  const urls = await Promise.all(
    [`${rig.url}/a/`, encodeURIComponent(`${rig.url}/a/`), `${rig.url}/a/`.replace("//", "/")].map(
      async (path) => {
        const response = await rig.request("POST", `/v2/publish/${path}`, delayed);
        return ((await response.json()) as { url: string }).url;
      },
    ),
  );
  expect(urls).toEqual(Array(3).fill(`${rig.url}/a/`));
  expect((await rig.request("POST", "/v2/publish/%ff")).status).toBe(400);
});

test("headers that HTTP does not allow are refused; those of the connection are left out", async () => {
  const batch = (headers: Record<string, string>) =>
    rig.request("POST", "/v2/batch", {
      body: JSON.stringify([{ destination: `${rig.url}/headers`, headers }]),
    });
  for (const header of ["Upstash-Forward-A b", "Upstash-Forward-X"]) {
    const refused = await batch({ [header]: "a\nb" });
    expect([refused.status, await refused.text()]).toEqual([
      400,
      expect.stringContaining("invalid header to forward"),
    ]);
  }
  await batch({
    "Upstash-Forward-Host": "example.com",
    "Upstash-Forward-Content-Length": "9",
    "Upstash-Forward-X": "1",
  });
  const [got] = await rig.requestsTo("/headers");
  expect(got!.headers).toMatchObject({ host: new URL(rig.url).host, "content-length": "0", x: "1" });
});
