import { Webhook } from "standardwebhooks";
import { describe, expect, test, vi } from "vitest";
import { type DrainReport, wakeReceiver, webhookWaker } from "../../../src/index.ts";
import { signedHeaders, signingKey } from "../../../src/signature.ts";
import { START } from "../../support/rig.ts";
import { useSimulatedTime } from "../../support/simulated-time.ts";

const time = useSimulatedTime();
const secret = `whsec_${btoa("a secret of at least 24 bytes")}`;
const other = `whsec_${btoa("another secret of 24 bytes or so")}`;
const url = "https://consumer.test/wake";
const report = { completed: 1 } as DrainReport;

const event = (data: object = { queue: "emails" }, type = "sluice.wake") => JSON.stringify({ type, data });
let wakes = 0;
async function request(
  body = event(),
  { by = secret, headers = {} }: { by?: string; headers?: Record<string, string> } = {},
) {
  const signed = await signedHeaders(await signingKey(by), `wake_${++wakes}`, body);
  return new Request(url, { method: "POST", headers: { ...signed, ...headers }, body });
}

describe("a wake receiver", () => {
  const drained: string[] = [];
  const receive = wakeReceiver({
    secret: [secret, other],
    drain: (queue) => (queue === "emails" ? Promise.resolve(drained.push(queue)).then(() => report) : null),
  });
  const statusOf = async (one: Request) => (await receive(one)).status;

  test("drains the queue, and answers with the report, or at once if the platform lets it work on", async () => {
    const answer = await receive(await request());
    expect([answer.status, await answer.json(), drained]).toEqual([200, report, ["emails"]]);
    const after: Promise<unknown>[] = [];
    const early = await receive(await request(), { waitUntil: (promise) => after.push(promise) });
    expect([early.status, await early.json()]).toEqual([202, { queue: "emails" }]);
    expect(await Promise.all(after)).toEqual([report]);
  });

  test("takes the signature of either secret, and one among several", async () => {
    expect(await statusOf(await request(event(), { by: other }))).toBe(200);
    const twice = await request();
    twice.headers.set("webhook-signature", `v1,AAAA v2,x ${twice.headers.get("webhook-signature")}`);
    expect(await statusOf(twice)).toBe(200);
  });

  test("refuses every other signature, and does nothing", async () => {
    drained.length = 0;
    const signed = await request();
    const signature = signed.headers.get("webhook-signature")!;
    const changed: Record<string, string>[] = [
      { "webhook-id": "wake_0" },
      { "webhook-id": "x".repeat(257) },
      { "webhook-timestamp": "1" },
      { "webhook-timestamp": "soon" },
      ...["", "v1,", "v1,%%%", signature.replace("v1,", "v2,")].map((one) => ({ "webhook-signature": one })),
    ];
    const unsigned = await request();
    unsigned.headers.delete("webhook-signature");
    const refused = [
      unsigned,
      await request(event(), { by: `whsec_${btoa("a secret that is unknown here")}` }),
      ...(await Promise.all(changed.map((headers) => request(event(), { headers })))),
      new Request(url, { method: "POST", headers: signed.headers, body: event({ queue: "other" }) }),
      new Request(url, { method: "POST", body: event() }),
    ];
    for (const one of refused) {
      const answer = await receive(one);
      expect([answer.status, answer.headers.get("content-type")]).toEqual([401, "application/problem+json"]);
    }
    expect(drained).toEqual([]);
  });

  test("refuses a signature that is more than five minutes old, or ahead", async () => {
    const signed = [await request(), await request(), await request()];
    const statuses: number[] = [];
    for (const [i, seconds] of [299, 302, -302].entries()) {
      time.now = START + seconds * 1_000;
      statuses.push(await statusOf(signed[i]!));
    }
    expect(statuses).toEqual([200, 401, 401]);
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
      expect([body.slice(0, 60), await statusOf(await request(body))]).toEqual([body.slice(0, 60), status]);
    }
    const { headers } = await request();
    for (const wrong of [{}, { method: "PUT", headers, body: event() }, { method: "DELETE", headers }]) {
      const answer = await receive(new Request(url, wrong));
      expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"]);
    }
  });

  test("reports a background drain that failed", async () => {
    const onError = vi.fn();
    const failing = wakeReceiver({ secret, drain: () => Promise.reject(new Error("no Redis")), onError });
    const after: Promise<unknown>[] = [];
    const { status } = await failing(await request(), { waitUntil: (promise) => after.push(promise) });
    await Promise.all(after);
    expect([status, onError.mock.calls]).toEqual([202, [[new Error("no Redis"), "emails"]]]);
  });

  test.each([
    "",
    "whsec_",
    "secret",
    "whsec_%%%%",
    ...[23, 65].map((size) => `whsec_${btoa("x".repeat(size))}`),
  ])("says which form a secret must have: %j", async (wrong) => {
    const refused = { code: "invalid_argument", path: "secret" };
    const receiver = wakeReceiver({ secret: wrong, drain: () => null });
    await expect(receiver(await request())).rejects.toMatchObject(refused);
  });
});

describe("a webhook waker", () => {
  /** Wakes a consumer that answers with these statuses, the last one each further time. Returns its requests. */
  async function wakeOf(...statuses: (number | "never")[]) {
    const seen: Request[] = [];
    const fetch = (one: Request) => {
      seen.push(one);
      const status = statuses[Math.min(seen.length, statuses.length) - 1] ?? 200;
      if (status !== "never") return Promise.resolve(new Response(null, { status }));
      return new Promise<never>((_, reject) => {
        one.signal.addEventListener("abort", () => reject(one.signal.reason as Error));
      });
    };
    const { wake } = webhookWaker({ url, secret, fetch });
    const error = await Promise.resolve(wake("emails")).catch((thrown: Error) => thrown.message);
    return { seen, error };
  }

  test("sends a POST that any library of Standard Webhooks verifies, and the receiver understands; signs as the library does", async () => {
    const [sent] = (await wakeOf(202)).seen as [Request];
    const [headers, body] = [Object.fromEntries(sent.headers), await sent.clone().text()];
    expect(new Webhook(secret).verify(body, headers)).toEqual({
      type: "sluice.wake",
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      data: { queue: "emails" },
    });
    expect(() => new Webhook(other).verify(body, headers)).toThrow();
    expect([sent.method, headers["content-type"]]).toEqual(["POST", "application/json"]);
    const signature = new Webhook(secret).sign(headers["webhook-id"]!, new Date(START), body);
    expect(headers["webhook-signature"]).toBe(signature);
    const receive = wakeReceiver({ secret, drain: () => Promise.resolve(report) });
    expect((await receive(sent)).status).toBe(200);
  });

  const refused = "the consumer answered HTTP";
  const login = `${refused} 401: the secrets or the clocks differ, or something in front of it wants a login`;
  const unknown = `${refused} 404: nothing receives wakes at the URL, or the queue has no consumer there`;
  test.each<[string, (number | "never")[], tries: number, error: string | undefined]>([
    ["tries three times if the consumer could not answer", [500, 503, 202], 3, undefined],
    ["tries again if it took too long to read, or is overloaded", [408, 429, 202], 3, undefined],
    ["gives up after the third try, and says so without the secret or the URL", [500, 503, 401], 3, login],
    ["does not repeat a call that another try cannot help", [404], 1, unknown],
    ["takes one that has not answered in time for woken", ["never"], 1, undefined],
    ["but not one that failed at first, and then has not answered", [503, "never"], 2, `${refused} 503`],
  ])("%s", async (_, statuses, tries, expected) => {
    const { seen, error } = await wakeOf(...statuses);
    expect([seen.length, error]).toEqual([tries, expected]);
    // Each is signed anew.
    expect(new Set(seen.map(({ headers }) => headers.get("webhook-id"))).size).toBe(tries);
    if (statuses.includes("never")) expect(time.now).toBe(START + 2_000);
  });

  test("says so if no consumer could be reached, however short its time", async () => {
    const toNobody = (one: Request) => time.during(fetch(one));
    const waker = webhookWaker({ url: "http://127.0.0.1:1/wake", secret, timeout: 300, fetch: toNobody });
    await expect(waker.wake("emails")).rejects.toThrow("fetch failed");
  });

  test("refuses wrong options by name", () => {
    const make = (more: object) => () => webhookWaker({ url, secret, ...more });
    expect(make({ url: "x.test" })).toThrow("url must be a URL that begins with https:// or http://");
    expect(make({ url: "ftp://x.test" })).toThrow("url must");
    for (const user of ["me:hidden", "me", ":hidden"]) {
      const message = /^url must be a URL without user and password$/;
      expect(make({ url: `https://${user}@x.test` })).toThrow(message);
    }
    expect(make({ timeout: 0 })).toThrow("timeout must be a duration");
    expect(make({ retries: 3 })).toThrow("retries");
  });
});
