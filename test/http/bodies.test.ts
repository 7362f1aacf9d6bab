import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createApp } from "../../src/http/app.ts";
import { asker, expectProblem, serve, tokens } from "./served.ts";

let served: Awaited<ReturnType<typeof serve>>;

beforeAll(async () => {
  served = await serve();
});
afterAll(() => served.stop());

const enqueue = (json: unknown, headers = {}) => served.ask("POST", "/v1/queues/q/tasks", { json, headers });

describe("the form of a body", () => {
  const post = (raw: BodyInit, headers: Record<string, string> = {}) =>
    served.ask("POST", "/v1/queues/q/tasks", { raw, headers });
  const deep = (levels: number) => `{"payload":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;

  it.each([
    ["no JSON", "{payload: 1}"],
    ["cut off", '{"payload": "'],
    ["two values", "{} {}"],
    ["spaces alone", "  "],
    ["no UTF-8", Uint8Array.of(0x22, 0xff, 0x22)],
    ["UTF-8 that is cut off", Uint8Array.of(0x22, 0xc3, 0x22)],
    ["a surrogate as UTF-8", Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22)],
    ["1,001 levels deep", deep(1_001)],
    ["1,001 levels deep after a text that ends with a backslash", `["\\\\",${"[".repeat(1_000)}]`],
    ["a million levels deep", "[".repeat(1_000_000)],
  ])("invalid_json: %s", async (_, raw) => {
    expectProblem(await post(raw), "invalid_json");
  });

  it.each([
    ["{payload: 1}", "The body is not valid JSON at line 1, column 2."],
    ['{"payload":\n  "a" "b"}', "The body is not valid JSON at line 2, column 7."],
    [
      '{"payload": 1',
      /^The body (ends before the JSON is complete|is not valid JSON at line 1, column 14)\.$/,
    ],
    ["  ", "The body ends before the JSON is complete."],
    ['{"payload": [secret, 1]}', /^The body is not valid JSON\. Common causes are /],
  ])("invalid_json says what is wrong with %j, and quotes none of it", async (raw, detail) => {
    const body = expectProblem(await post(raw), "invalid_json");
    expect(body.detail).toEqual(typeof detail === "string" ? detail : expect.stringMatching(detail));
    expect(JSON.stringify(body)).not.toContain("secret");
  });

  it("1,000 levels, brackets in texts and a byte order mark are no fault", async () => {
    expect((await post(deep(1_000))).status).toBe(201);
    expect((await post(JSON.stringify({ payload: `\\"${"[{".repeat(2_000)}` }))).status).toBe(201);
    expect((await post('\ufeff{"payload":1}')).status).toBe(201);
  });

  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "application/json; charset=latin1",
    "",
    "application/jsonx",
  ])("unsupported_media_type: %j", async (type) => {
    expectProblem(await post('{"payload":1}', { "content-type": type }), "unsupported_media_type");
  });

  it("unsupported_media_type: a compressed body", async () => {
    expectProblem(await post('{"payload":1}', { "content-encoding": "gzip" }), "unsupported_media_type");
  });

  it("takes application/json in any spelling, and needs no type without a body", async () => {
    expect((await post('{"payload":1}', { "content-type": "Application/JSON;charset=UTF-8" })).status).toBe(
      201,
    );
    const none = { "content-type": "text/plain" };
    expect((await served.ask("POST", "/v1/queues/empty/tasks/pull", { headers: none })).status).toBe(200);
  });

  it("an enqueue and a settle need a body", async () => {
    for (const path of ["/v1/queues/q/tasks", "/v1/queues/q/tasks/settle"]) {
      const { errors } = expectProblem(await served.ask("POST", path), "invalid_request");
      expect(errors).toEqual([{ path: "", message: "is missing" }]);
    }
  });
});

describe("payload_too_large", () => {
  const body = (size: number) => `{"payload":1,"headers":{"a":"${"x".repeat(size)}"}}`;

  it("a body over 10 MB with a Content-Length", async () => {
    const raw = body(10_000_000);
    const answer = await served.ask("POST", "/v1/queues/q/tasks", {
      raw,
      headers: { "content-length": String(raw.length) },
    });
    expect(expectProblem(answer, "payload_too_large").detail).toBe(
      "The body must have at most 10000000 bytes.",
    );
  });

  it("a body that streams past the limit without a length is read no further", async () => {
    let sent = 0;
    let cancelled = false;
    const raw = new ReadableStream({
      pull(controller) {
        sent += 65_536;
        if (sent > 50_000_000) return controller.close();
        controller.enqueue(new Uint8Array(65_536).fill(0x20));
      },
      cancel() {
        cancelled = true;
      },
    });
    expectProblem(await served.ask("POST", "/v1/queues/q/tasks", { raw }), "payload_too_large");
    expect(sent).toBeLessThan(10_500_000);
    expect(cancelled).toBe(true);
  });

  it("the limit of the body is an option of createApp, and exact", async () => {
    const app = createApp({ transport: served.transport, tokens, limits: { body: 100 } });
    const ask = asker((request) => app.fetch(request));
    const raw = (size: number) => `{"payload":"${"x".repeat(size - 14)}"}`;
    expect((await ask("POST", "/v1/queues/q/tasks", { raw: raw(100) })).status).toBe(201);
    expectProblem(await ask("POST", "/v1/queues/q/tasks", { raw: raw(101) }), "payload_too_large");
  });

  it("a payload over 1 MiB, and says which", async () => {
    const large = "x".repeat(1_048_575);
    expect(
      expectProblem(await enqueue({ tasks: [{ payload: 1 }, { payload: large }] }), "payload_too_large")
        .detail,
    ).toBe("tasks[1].payload has 1048577 bytes; at most 1048576 are allowed.");
  });
});

it("a body that breaks off is answered as a fault of the client", async () => {
  const raw = new ReadableStream({
    pull(controller) {
      controller.error(new TypeError("terminated"));
    },
  });
  expectProblem(await served.ask("POST", "/v1/queues/q/tasks", { raw }), "invalid_json");
});
