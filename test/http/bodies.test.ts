import { expect, it } from "vitest";
import { expectProblem, useServed } from "./served.ts";

// The form of a body. That every route refuses other forms and types: fields.test.ts.

const served = useServed();

const post = (raw: BodyInit, headers: Record<string, string> = {}) =>
  served.ask("POST", "/v1/queues/q/tasks", { raw, headers });
const deep = (levels: number) => `{"payload":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;

it.each<[string, BodyInit]>([
  ["two values", "{} {}"],
  ["a comma too much", "[1,]"],
  ["a control character in a text", '"\u0001"'],
  ["NUL", "\u0000"],
  ["UTF-8 that is cut off", Uint8Array.of(0x22, 0xc3, 0x22)],
  ["a surrogate as UTF-8", Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22)],
  ["UTF-16 with its mark", Uint8Array.of(0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00)],
  ["UTF-16 without it", Uint8Array.of(0x7b, 0x00, 0x7d, 0x00)],
  ["1,001 levels deep", deep(1_001)],
  ["1,001 levels deep after a text that ends with a backslash", `["\\\\",${"[".repeat(1_000)}]`],
  ["a million levels deep", "[".repeat(1_000_000)],
  ["as many levels of objects", `{"a":`.repeat(1_000_000)],
  [
    "one that breaks off",
    new ReadableStream({ pull: (controller) => controller.error(new TypeError("terminated")) }),
  ],
])("invalid_json: %s", async (_, raw) => {
  expectProblem(await post(raw), "invalid_json");
});

it.each([
  ["{payload: 1}", /^The body is not valid JSON at line 1, column 2\.$/],
  ['{"payload":\n  "a" "b"}', /^The body is not valid JSON at line 2, column 7\.$/],
  ['{"payload": 1', /^The body (ends before the JSON is complete|is not valid JSON at line 1, column 14)\.$/],
  ["  ", /^The body ends before the JSON is complete\.$/],
  ['{"payload": [secret, 1]}', /^The body is not valid JSON\. Common causes are /],
])("invalid_json says what is wrong with %j, and quotes none of it", async (raw, detail) => {
  const body = expectProblem(await post(raw), "invalid_json");
  expect(body.detail).toMatch(detail);
  expect(JSON.stringify(body)).not.toContain("secret");
});

it("1,000 levels, brackets in texts and a byte order mark are no fault", async () => {
  const brackets = JSON.stringify({ payload: `\\"${"[{".repeat(2_000)}` });
  for (const raw of [deep(1_000), brackets, '\ufeff{"payload":1}'])
    expect((await post(raw)).status).toBe(201);
});

it.each([
  ...["", "application/jsonx", "multipart/form-data; boundary=x", "application/json, text/html"].map(
    (type) => ({ "content-type": type }),
  ),
  ...["br", "deflate, gzip", "x-unknown"].map((encoding) => ({ "content-encoding": encoding })),
])("unsupported_media_type: %j", async (headers: Record<string, string>) => {
  const answer = await post("{}", headers);
  expectProblem(answer, "unsupported_media_type");
  if (headers["content-encoding"]) expect(answer.headers.get("accept-encoding")).toBe("identity");
});

it("takes application/json in any spelling, and needs no type without a body", async () => {
  const spelt = { "content-type": "Application/JSON;charset=UTF-8" };
  expect((await post('{"payload":1}', spelt)).status).toBe(201);
  const none = { "content-type": "text/plain" };
  expect((await served.ask("POST", "/v1/queues/empty/tasks/pull", { headers: none })).status).toBe(200);
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
  const { detail } = expectProblem(await post(raw), "payload_too_large");
  expect(detail).toBe("The body must have at most 10000000 bytes.");
  expect([sent < 10_500_000, cancelled]).toEqual([true, true]);
});

it("a payload over 1 MiB is refused, and the answer says which", async () => {
  const tasks = [{ payload: 1 }, { payload: "x".repeat(1_048_575) }];
  const { detail } = expectProblem(await post(JSON.stringify({ tasks })), "payload_too_large");
  expect(detail).toBe("tasks[1].payload has 1048577 bytes; at most 1048576 are allowed.");
});
