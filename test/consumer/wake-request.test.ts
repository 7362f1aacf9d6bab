import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { afterEach, describe, expect, test, vi } from "vitest";
import { type DrainReport, wakeReceiver, webhookWaker } from "../../src/index.ts";
import { signedHeaders, signingKey } from "../../src/consumer/wake/signature.ts";

const secret = `whsec_${btoa("a secret of at least 24 bytes")}`;
const other = `whsec_${btoa("another secret of 24 bytes or so")}`;
const report = { completed: 1 } as DrainReport;

const event = (data: object = { queue: "emails" }, type = "sluice.wake") => JSON.stringify({ type, data });
let wakes = 0;
async function request(
  body = event(),
  { by = secret, headers = {} }: { by?: string; headers?: Record<string, string> } = {},
) {
  const signed = await signedHeaders(await signingKey(by), `wake_${++wakes}`, body);
  return new Request("https://consumer.test/wake", {
    method: "POST",
    headers: { ...signed, ...headers },
    body,
  });
}

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("a wake receiver", () => {
  const drained: string[] = [];
  const receive = wakeReceiver({
    secret: [secret, other],
    drain: (queue) => (queue === "emails" ? Promise.resolve(drained.push(queue)).then(() => report) : null),
  });

  test("drains the queue, and answers with the report", async () => {
    const answer = await receive(await request());
    expect([answer.status, await answer.json(), drained]).toEqual([200, report, ["emails"]]);
  });

  test("answers at once if the platform lets it work on", async () => {
    const after: Promise<unknown>[] = [];
    const answer = await receive(await request(), { waitUntil: (promise) => after.push(promise) });
    expect([answer.status, await answer.json()]).toEqual([202, { queue: "emails" }]);
    expect(await Promise.all(after)).toEqual([report]);
  });

  test("takes the signature of either secret, and one among several", async () => {
    expect((await receive(await request(event(), { by: other }))).status).toBe(200);
    const twice = await request();
    twice.headers.set("webhook-signature", `v1,AAAA v2,x ${twice.headers.get("webhook-signature")}`);
    expect((await receive(twice)).status).toBe(200);
  });

  test("refuses every other signature, and does nothing", async () => {
    drained.length = 0;
    const unknown = `whsec_${btoa("a secret that is unknown here")}`;
    const headers = (changed: Record<string, string>) => request(event(), { headers: changed });
    const signed = await request();
    const refused = [
      await request(event(), { by: unknown }),
      await headers({ "webhook-id": "wake_0" }),
      await headers({ "webhook-id": "x".repeat(257) }),
      await headers({ "webhook-timestamp": "1" }),
      await headers({ "webhook-timestamp": "soon" }),
      await headers({ "webhook-signature": "" }),
      await headers({ "webhook-signature": "v1," }),
      await headers({ "webhook-signature": "v1,%%%" }),
      await headers({ "webhook-signature": signed.headers.get("webhook-signature")!.replace("v1,", "v2,") }),
      new Request(signed.url, { method: "POST", headers: signed.headers, body: event({ queue: "other" }) }),
      new Request(signed.url, { method: "POST", body: event() }),
    ];
    for (const one of refused) {
      const answer = await receive(one);
      expect([answer.status, answer.headers.get("content-type")]).toEqual([401, "application/problem+json"]);
    }
    expect(drained).toEqual([]);
  });

  test("refuses a signature that is more than five minutes old, or ahead", async () => {
    const now = Date.now();
    const signed = [await request(), await request(), await request()];
    vi.useFakeTimers({ toFake: ["Date"] });
    vi.setSystemTime(now + 299_000);
    expect((await receive(signed[0]!)).status).toBe(200);
    vi.setSystemTime(now + 302_000);
    expect((await receive(signed[1]!)).status).toBe(401);
    vi.setSystemTime(now - 302_000);
    expect((await receive(signed[2]!)).status).toBe(401);
  });

  test("refuses a signed body that is no wake, with its fault", async () => {
    for (const [status, body] of [
      [400, "{"],
      [400, "null"],
      [400, event({}, "sluice.wake")],
      [400, event({ queue: 7 })],
      [400, event({ queue: "emails" }, "invoice.paid")],
      [404, event({ queue: "others" })],
      [413, event({ queue: "x".repeat(10_000) })],
    ] as const) {
      expect([(await receive(await request(body))).status, body.slice(0, 60)]).toEqual([
        status,
        body.slice(0, 60),
      ]);
    }
    const { url, headers } = await request();
    for (const wrong of [
      new Request(url),
      new Request(url, { method: "PUT", headers, body: event() }),
      new Request(url, { method: "DELETE", headers }),
    ]) {
      const answer = await receive(wrong);
      expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"]);
    }
  });

  test("reports a background drain that failed", async () => {
    const onError = vi.fn();
    const failing = wakeReceiver({ secret, drain: () => Promise.reject(new Error("no Redis")), onError });
    const after: Promise<unknown>[] = [];
    expect((await failing(await request(), { waitUntil: (promise) => after.push(promise) })).status).toBe(
      202,
    );
    await Promise.all(after);
    expect(onError.mock.calls).toEqual([[new Error("no Redis"), "emails"]]);
  });

  test("says which form a secret must have", async () => {
    for (const wrong of [
      "",
      "whsec_",
      "secret",
      `whsec_${btoa("x".repeat(23))}`,
      `whsec_${btoa("x".repeat(65))}`,
      "whsec_%%%%",
    ]) {
      const receiver = wakeReceiver({ secret: wrong, drain: () => null });
      await expect(receiver(await request())).rejects.toMatchObject({
        code: "invalid_argument",
        path: "secret",
      });
    }
  });
});

describe("a webhook waker", () => {
  /** A consumer that notes its requests and answers with these statuses; the last one repeats. */
  async function consumer(...statuses: (number | "never")[]) {
    const seen: { headers: Record<string, string>; body: string }[] = [];
    const server = createServer((incoming, outgoing) => {
      let body = "";
      incoming.on("data", (chunk: Buffer) => (body += chunk.toString()));
      incoming.on("end", () => {
        seen.push({ headers: incoming.headers as Record<string, string>, body });
        const status = statuses[Math.min(seen.length, statuses.length) - 1] ?? 200;
        if (status !== "never") outgoing.writeHead(status).end();
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/wake`;
    return { seen, url, close: () => (server.closeAllConnections(), server.close()) };
  }

  test("sends a POST that any library of Standard Webhooks verifies", async () => {
    const { seen, url, close } = await consumer(202);
    await webhookWaker({ url, secret }).wake("emails");
    close();
    const [{ headers, body }] = seen as [(typeof seen)[0]];
    expect(new Webhook(secret).verify(body, headers)).toEqual({
      type: "sluice.wake",
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      data: { queue: "emails" },
    });
    expect(() => new Webhook(other).verify(body, headers)).toThrow();
    expect(headers["content-type"]).toBe("application/json");
  });

  test("is understood by the receiver, and signs as the library does", async () => {
    const sent: Request[] = [];
    const fetch = async (one: Request) => (sent.push(one), new Response());
    await webhookWaker({ url: "https://consumer.test/wake", secret, fetch }).wake("emails");
    const body = await sent[0]!.clone().text();
    const at = new Date(1_000 * Number(sent[0]!.headers.get("webhook-timestamp")));
    const signature = new Webhook(secret).sign(sent[0]!.headers.get("webhook-id")!, at, body);
    expect(sent[0]!.headers.get("webhook-signature")).toBe(signature);
    const receive = wakeReceiver({ secret, drain: () => Promise.resolve(report) });
    expect((await receive(sent[0]!)).status).toBe(200);
  });

  test("tries three times if the consumer could not answer, each time signed anew", async () => {
    const { seen, url, close } = await consumer(500, 503, 202);
    await webhookWaker({ url, secret }).wake("emails");
    close();
    expect(new Set(seen.map(({ headers }) => headers["webhook-id"])).size).toBe(3);
  });

  test("tries again if the consumer took too long to read, or is overloaded", async () => {
    const { seen, url, close } = await consumer(408, 429, 202);
    await webhookWaker({ url, secret }).wake("emails");
    close();
    expect(seen).toHaveLength(3);
  });

  test("gives up after the third try, and says so without the secret or the URL", async () => {
    const { seen, url, close } = await consumer(500, 503, 401);
    await expect(webhookWaker({ url, secret }).wake("emails")).rejects.toThrow(
      /^the consumer answered HTTP 401: the secrets or the clocks differ/,
    );
    close();
    expect(seen).toHaveLength(3);
  });

  test("does not repeat a call that another try cannot help", async () => {
    const { seen, url, close } = await consumer(404);
    await expect(webhookWaker({ url, secret }).wake("emails")).rejects.toThrow(
      /HTTP 404: nothing receives wakes at the URL, or the queue has no consumer there$/,
    );
    close();
    expect(seen).toHaveLength(1);
  });

  test("says so if no consumer could be reached, however short its time", async () => {
    const { url, close } = await consumer(200);
    close();
    await expect(webhookWaker({ url, secret, timeout: 300 }).wake("emails")).rejects.toThrow("fetch failed");
  });

  test("takes a consumer that has not answered in time for woken, because it answers when it is done", async () => {
    const { seen, url, close } = await consumer("never");
    await webhookWaker({ url, secret, timeout: "2s" }).wake("emails");
    close();
    expect(seen).toHaveLength(1);
  });

  test("does not take a consumer for woken that failed at first, and then has not answered in time", async () => {
    const { seen, url, close } = await consumer(503, "never");
    await expect(webhookWaker({ url, secret, timeout: "2s" }).wake("emails")).rejects.toThrow(
      /^the consumer answered HTTP 503$/,
    );
    close();
    expect(seen).toHaveLength(2);
  });

  test("refuses wrong options by name", () => {
    const make = (more: object) => () => webhookWaker({ url: "https://x.test", secret, ...more });
    expect(make({ url: "x.test" })).toThrow("url must be a URL that begins with https:// or http://");
    expect(make({ url: "ftp://x.test" })).toThrow("url must");
    for (const url of ["https://me:hidden@x.test", "https://me@x.test", "https://:hidden@x.test"]) {
      expect(make({ url })).toThrow(/^url must be a URL without user and password$/);
    }
    expect(make({ timeout: 0 })).toThrow("timeout must be a duration");
    expect(make({ retries: 3 })).toThrow("retries");
  });
});
