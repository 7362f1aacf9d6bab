import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { sluice } from "../../serverless/lambda.ts";
import { asker, secrets } from "../http/served.ts";
import { openPlace } from "../platforms/place.ts";
import {
  type Asked,
  balancerCheck,
  type BalancerHandler,
  byBalancer,
  byGateway,
  byRestApi,
  byUrl,
  type HttpHandler,
  ID,
  type RestHandler,
  type ScheduleHandler,
} from "./lambda-events.ts";
import { handler } from "./lambda-handler.ts";

let place: Awaited<ReturnType<typeof openPlace>>;
beforeAll(async () => {
  place = await openPlace();
  for (const [name, value] of Object.entries(place.env)) vi.stubEnv(name, value);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await place.close();
});

/** Calls the function as AWS does, with an event of any kind, for four seconds at most. Returns its result. */
async function invoke(event: unknown): Promise<unknown> {
  const end = Date.now() + 4_000;
  const context = { getRemainingTimeInMillis: () => end - Date.now() };
  const result: unknown = await handler(event as never, context);
  return result === undefined ? undefined : JSON.parse(JSON.stringify(result));
}

/** The function behind its URL. */
const ask = asker(async (request) => {
  const { pathname: path, search } = new URL(request.url);
  const asked: Asked = {
    method: request.method,
    path,
    query: search.slice(1),
    headers: Object.fromEntries(request.headers),
    body: await request.text(),
  };
  const given = (await invoke(byUrl(asked))) as { statusCode: number; headers: Headers; body: string };
  return new Response(given.body, { status: given.statusCode, headers: given.headers });
});

const bearer = { authorization: `Bearer ${secrets.all}` };
const answer = async (event: object) => {
  const { body, ...result } = (await invoke(event)) as { body: string; statusCode: number };
  return { ...result, body: JSON.parse(body) as unknown };
};

test("a handler fits AWS's types, for HTTP of each kind and for a schedule", () => {
  const http: HttpHandler = sluice();
  const rest: RestHandler = sluice();
  const balancer: BalancerHandler = sluice();
  const schedule: ScheduleHandler = sluice();
  expect([http, rest, balancer, schedule].map((handler) => typeof handler)).toEqual(
    Array(4).fill("function"),
  );
});

const one = { "content-type": "application/octet-stream", "x-many": "1, 2" };
const cookies = ["a=1; Path=/", "b=2"];

/** The host, whether a request has all values of a parameter, and which headers a response has. */
describe.each([
  ["a function URL", byUrl, `${ID}.lambda-url.eu-central-1.on.aws`, true, { headers: one, cookies }],
  [
    "a REST API",
    byRestApi,
    "a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com",
    true,
    { headers: one, multiValueHeaders: { "set-cookie": cookies } },
  ],
  [
    "a load balancer",
    byBalancer,
    "welcome.example.com",
    false,
    // Names that differ in their case are headers of their own.
    { headers: { ...one, "set-cookie": cookies[0], "Set-cookie": cookies[1] } },
  ],
  [
    "a load balancer with all values",
    (asked: Asked) => byBalancer(asked, true),
    "welcome.example.com",
    true,
    {
      multiValueHeaders: {
        "content-type": [one["content-type"]],
        "x-many": [one["x-many"]],
        "set-cookie": cookies,
      },
    },
  ],
] as const)("%s", (_, by, host, sendsAll, sentHeaders) => {
  test("sends a request with its bytes, cookies, values and address", async () => {
    const query = sendsAll ? "x=1&x=2&y=%C3%A4%26" : "x=1&y=%C3%A4%26";
    const event = by({
      method: "PUT",
      path: "/shown/a%2540b%20c",
      query,
      headers: { "x-many": "1,2", "content-type": "application/octet-stream" },
      cookies: ["a=1", "b=2"],
      body: "AP+A",
      isBase64Encoded: true,
    });
    const { body, statusCode } = await answer(event);
    expect([statusCode, body]).toEqual([
      200,
      {
        method: "PUT",
        origin: `https://${host}`,
        path: `/shown/a%2540b%20c?${query}`,
        headers: expect.objectContaining({
          "x-many": "1,2",
          "content-type": "application/octet-stream",
          cookie: "a=1; b=2",
        }),
        body: [0, 255, 128],
      },
    ]);
  });

  test("gets a response with its bytes, each cookie and all values", async () => {
    const given = await invoke(by({ path: "/bytes" }));
    const { headers, multiValueHeaders, cookies, ...rest } = given as Record<string, unknown>;
    expect(rest).toMatchObject({ statusCode: 203, body: "AP/+gA==", isBase64Encoded: true });
    expect({ headers, multiValueHeaders, cookies }).toEqual(sentHeaders);
  });
});

test("a load balancer's check of health, which has no host, is answered", async () => {
  expect(await answer(balancerCheck("/health"))).toMatchObject({ statusCode: 200 });
  expect((await answer(balancerCheck("/shown"))).body).toMatchObject({ origin: "https://localhost" });
});

test("a REST API's test, with neither headers nor parameters, is answered", async () => {
  const event = { ...byRestApi({ path: "/health" }), headers: null, multiValueHeaders: null };
  const requestContext = { apiId: "a1b2c3d4e5", stage: "test-invoke-stage" };
  expect(await answer({ ...event, requestContext })).toMatchObject({ statusCode: 200 });
});

test.each([
  ["without an event", null],
  ["of serverless-plugin-warmup", { source: "serverless-plugin-warmup" }],
  ["of lambda-warmer", { warmer: true, concurrency: 3 }],
  ["of a schedule with an input of its own", { warmup: true }],
])("a warm-up %s does nothing", async (_, event) => {
  expect(await invoke(event)).toBeUndefined();
});

describe("a request", () => {
  test("keeps its path even if API Gateway has decoded it", async () => {
    const { body } = await answer(byGateway({ path: "/shown/a%40b c?/ä#" }));
    expect(body).toMatchObject({ path: "/shown/a%2540b%20c%3F/%C3%A4%23" });
    const id = "welcome-a%40example.com";
    const path = "/v1/queues/paths/tasks";
    const json = { "content-type": "application/json", ...bearer };
    await answer(
      byGateway({ method: "POST", path, headers: json, body: JSON.stringify({ payload: 1, id }) }),
    );
    expect((await answer(byGateway({ path: `${path}/${id}`, headers: bearer }))).body).toMatchObject({ id });
    const encoded = encodeURIComponent(id);
    expect((await answer(byUrl({ path: `${path}/${encoded}`, headers: bearer }))).body).toMatchObject({ id });
  });

  test("may have a text as body, or none", async () => {
    const reported = async (asked: object) =>
      (await answer(byUrl({ path: "/shown", ...asked }))).body as { body: number[] };
    expect((await reported({ method: "POST", body: "ä" })).body).toEqual([0xc3, 0xa4]);
    expect((await reported({ method: "POST" })).body).toEqual([]);
    expect((await reported({ method: "GET", body: "" })).body).toEqual([]);
  });
});

describe("a response", () => {
  test("of events has all events until the time is over; a client that connects again goes on", async () => {
    const path = "/v1/queues/reporting/tasks";
    await ask("POST", path, { json: { payload: 1, id: "x" } });
    const follow = (headers = {}) =>
      ask("GET", `${path}/x`, { headers: { accept: "text/event-stream", ...headers } });
    const first = await follow();
    expect(first.status).toBe(200);
    expect(first.headers.get("content-type")).toMatch(/^text\/event-stream/);
    expect(first.body).toMatch(
      /^retry: 1000\n\nid: 1\nevent: transition\ndata: .*"to":"pending".*\n\n(?::\n\n)*$/,
    );
    await ask("POST", `${path}/x/cancel`);
    const second = await follow({ "last-event-id": "1" });
    expect(second.body).toMatch(/^retry: 1000\n\nid: 2\nevent: end\ndata: .*"state":"rejected".*\n\n$/);
  });

  test("comes before the function is ended, however long a call would wait", async () => {
    await ask("POST", "/v1/queues/waited/tasks", { json: { payload: 1, id: "x", delay: "1h" } });
    const { status, headers } = await ask("GET", "/v1/queues/waited/tasks/x?wait=30s");
    expect(status).toBe(504);
    expect(headers.get("content-type")).toMatch(/^application\/problem\+json/);
  });
});

describe("a schedule's event", () => {
  test("makes consumers work only as long as the function may", async () => {
    await ask("POST", "/v1/queues/slow/tasks", { json: { payload: 1, id: "x", delay: 1 } });
    const added = await ask("GET", "/v1/queues/slow/tasks/x");
    const { dueAt } = added.body as { dueAt: number };
    await expect.poll(() => Date.now()).toBeGreaterThan(dueAt);
    const event = { source: "aws.events", "detail-type": "Scheduled Event", detail: {} };
    expect(await invoke(event)).toBeUndefined();
    const { body } = await ask("GET", "/v1/queues/slow/tasks/x");
    expect(body).toMatchObject({ state: "delayed", attempt: 1 });
  });

  test("of another kind is refused", async () => {
    const refusal =
      "The event must be an HTTP request of a function URL, API Gateway or a load balancer, a Scheduled Event of EventBridge, or a warm-up";
    const created = { source: "aws.s3", "detail-type": "Object Created" };
    const noContext = [{ requestContext: null }, { requestContext: {} }];
    for (const event of [created, {}, [], "text", 1, { Records: [] }, ...noContext])
      await expect(invoke(event)).rejects.toThrow(refusal);
  });
});
