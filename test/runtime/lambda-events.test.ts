import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sluice } from "../../serverless/lambda.ts";
import { asker, secrets } from "../http/served.ts";
import { openPlace } from "./acceptance.ts";
import { lambdaFolder, type Offline, startOffline } from "./lambda.ts";
import { byGateway, byUrl, type HttpHandler, type ScheduleHandler } from "./lambda/events.ts";

let place: Awaited<ReturnType<typeof openPlace>>;
let lambda: Offline;

beforeAll(async () => {
  place = await openPlace();
  const folder = await lambdaFolder("serverless/lambda");
  await folder.write("handler.ts", await readFile(new URL("lambda/handler.ts", import.meta.url), "utf8"));
  const config = await readFile(join(folder.path, "serverless.yml"), "utf8");
  await folder.write(
    "serverless.yml",
    config
      .replace("timeout: 29", "timeout: 4")
      .replace("rate(1 minute)", "cron(0 0 1 1 ? *)")
      .concat("plugins: [serverless-offline]\n"),
  );
  await folder.run(
    "npx esbuild handler.ts --bundle --platform=node --format=esm --outfile=build/handler.mjs",
  );
  await folder.writeEnv(place.env);
  lambda = await startOffline(folder, "sluice-dev-sluice");
});
afterAll(async () => {
  await lambda?.stop();
  await place?.close();
});

const bearer = { authorization: `Bearer ${secrets.all}` };
const answer = async (event: object) => {
  const { body, ...result } = (await lambda.invoke(event)) as { body: string; statusCode: number };
  return { ...result, body: JSON.parse(body) as unknown };
};

test("a handler fits AWS's types, for HTTP and for a schedule", () => {
  const http: HttpHandler = sluice();
  const schedule: ScheduleHandler = sluice();
  expect([typeof http, typeof schedule]).toEqual(["function", "function"]);
});

describe("a request", () => {
  test("arrives with its bytes, cookies, values and address", async () => {
    const event = byUrl({
      method: "PUT",
      path: "/shown/a%2540b%20c",
      query: "x=1&x=2&y=%C3%A4",
      headers: { "x-many": "1,2", "content-type": "application/octet-stream" },
      cookies: ["a=1", "b=2"],
      body: "AP+A",
      isBase64Encoded: true,
    });
    expect(await answer(event)).toEqual({
      statusCode: 200,
      headers: { "content-type": "application/json" },
      cookies: [],
      isBase64Encoded: false,
      body: {
        method: "PUT",
        origin: `https://${event.requestContext.domainName}`,
        path: "/shown/a%2540b%20c?x=1&x=2&y=%C3%A4",
        headers: { "x-many": "1,2", "content-type": "application/octet-stream", cookie: "a=1; b=2" },
        body: [0, 255, 128],
      },
    });
  });

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
  test("is sent as base64 if it is no text, with each cookie and all values", async () => {
    expect(await lambda.invoke(byUrl({ path: "/bytes" }))).toEqual({
      statusCode: 203,
      headers: { "content-type": "application/octet-stream", "x-many": "1, 2" },
      cookies: ["a=1; Path=/", "b=2"],
      body: "AP/+gA==",
      isBase64Encoded: true,
    });
    const response = await fetch(`${lambda.url}/bytes`);
    expect(response.headers.getSetCookie()).toEqual(["a=1; Path=/", "b=2"]);
    expect([...new Uint8Array(await response.arrayBuffer())]).toEqual([0, 0xff, 0xfe, 0x80]);
  });

  test("of events has all events until the time is over; a client that connects again goes on", async () => {
    const ask = asker(lambda.fetch);
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
    const ask = asker(lambda.fetch);
    await ask("POST", "/v1/queues/waited/tasks", { json: { payload: 1, id: "x", delay: "1h" } });
    const { status, headers } = await ask("GET", "/v1/queues/waited/tasks/x?wait=30s");
    expect(status).toBe(504);
    expect(headers.get("content-type")).toMatch(/^application\/problem\+json/);
  });
});

describe("a schedule's event", () => {
  test("makes consumers work only as long as the function may", async () => {
    const ask = asker(lambda.fetch);
    await ask("POST", "/v1/queues/slow/tasks", { json: { payload: 1, id: "x", delay: 1 } });
    expect(await lambda.cron()).toBeUndefined();
    expect((await ask("GET", "/v1/queues/slow/tasks/x")).body).toMatchObject({
      state: "delayed",
      attempt: 1,
    });
  });

  test("of another kind is refused", async () => {
    await expect(lambda.invoke({ source: "aws.s3", "detail-type": "Object Created" })).rejects.toThrow(
      /must be an HTTP request of payload format 2\.0, or a Scheduled Event/,
    );
    await expect(lambda.invoke({})).rejects.toThrow(/must be an HTTP request/);
  });
});
