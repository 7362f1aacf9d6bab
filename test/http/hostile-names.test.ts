import { describe, expect, it } from "vitest";
import { MAX_FLOW_ID } from "../../src/kernel/linked/flow-names.ts";
import { KEY } from "../../src/kernel/options/validation.ts";
import { fits } from "../long/fuzz/conforms.ts";
import { longestId, longestRef } from "../long/fuzz/flow-bodies.ts";
import { readKeySpace } from "../support/key-space.ts";
import { described, isRefused, type Place, places, useStack } from "./places.ts";

// Names that other systems fail on, in every place that takes one.

const app = useStack();
const ofObject = Object.getOwnPropertyNames(Object.prototype);

/** In a text, because each on a line of its own would fill the page; those with spaces and controls below. */
const words =
  ". .. ../ ../../etc/passwd ..%2f %2e%2e%2f %252e%252e % %zz %00 {a}b a}:{b a:b : sluice:{other}:tasks a;b a/b a\\b " +
  "a?b a#b a&b=c a* ~wake .id -id $(reboot) <script> __proto__ constructor prototype hasOwnProperty toString null " +
  "undefined NaN 0 \u202eevil \u200f\u0627 é 😀 \ufeffa";
const names: readonly string[] = words
  .split(" ")
  .concat("", " ", "a\u0000b", "a\nb", "a\r\nX-Injected: 1", "a\tb", "a b", "'; FLUSHALL; --")
  .concat([128, 129, 10_000].map((length) => "a".repeat(length)));
/** Names that JSON can hold, but no path. */
const halves = ["\ud800", "a\udc00"];

/** What is wrong with the answer to a request with the name in that place, if anything is. */
async function fault(place: Place, name: string, takes: boolean): Promise<string | undefined> {
  const answer = await app.send(place.put(name));
  const { status, headers, text } = answer;
  const wrong = `${JSON.stringify(name.slice(0, 40))}: ${status} ${text.slice(0, 200)}`;
  // An empty name, and one that a URL takes for a step up, make another path.
  if (place.where === "path" && ["", ".", ".."].includes(name)) return status < 500 ? undefined : wrong;
  if (status < 400) return takes ? undefined : wrong;
  if (headers["content-type"] !== "application/problem+json") return wrong;
  // The state of the queue may be in the way.
  if (takes) return [404, 409, 429].includes(status) ? undefined : wrong;
  return isRefused(place, answer) ? undefined : wrong;
}

const isDuration = (pattern: string) => pattern.includes("ms|s|m|h|d");
const named = places(
  ({ type, pattern }) => type === "string" && pattern !== undefined && !isDuration(pattern),
);

it.each(named)("%s takes the allowed names, and names the wrong field for every other", async (_, place) => {
  const isShorter = place.field === "schedule" || place.field.endsWith("].name");
  const takes = (name: string) => fits(described, place.schema, name) && !(isShorter && name.length > 100);
  // The refs of an inner flow are longer by its own, and the id of a flow by the name of its home.
  const isTooLong = (name: string) => {
    const { body } = place.put(name);
    return takes(name) && (longestRef(body) > 128 || longestId(body) > MAX_FLOW_ID);
  };
  const faults: unknown[] = [];
  const tried = place.where === "body" ? [...names, ...halves] : names;
  for (const name of tried.filter((one) => !isTooLong(one)))
    faults.push(await fault(place, name, takes(name)));
  expect(faults.filter((one) => one !== undefined)).toEqual([]);
});

it("whatever was asked, there are only keys of queues with an allowed name, and no object has got a field", async () => {
  expect(named.length).toBeGreaterThan(50);
  const queue = String.raw`\{[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}(?:\/\d+)?\}(?:\/\d+)?`;
  const shared = String.raw`sluice:(?:queues|topics|endpoints)|\{sluice:queues\}:maps`;
  const own = new RegExp(String.raw`^(?:sluice:${queue}:[a-z-]+|${shared})$`);
  expect(Object.keys(await readKeySpace(app.stack.redisUrl)).filter((key) => !own.test(key))).toEqual([]);
  expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(ofObject);
});

const post = (path: string, body?: string) => app.ask("POST", path, body);
const get = (path: string) => app.ask("GET", path);

it("a path with an invalid escape, or one that is not UTF-8, is refused: the name could only be guessed", async () => {
  for (const raw of ["%", "%zz", "%c3", "%ED%A0%80", "%ff", "a%", "%u0041", "%E0%A4%A"]) {
    const { status, text } = await get(`/v1/queues/${raw}`);
    const errors = [{ path: "path", message: "must be percent-encoded UTF-8" }];
    expect([raw, status, JSON.parse(text).errors]).toEqual([raw, 400, errors]);
  }
});

it("an Idempotency-Key is any visible ASCII text", async () => {
  for (const key of names.filter((name) => !/[^\t -ÿ]/.test(name))) {
    const headers = { "idempotency-key": key };
    const { status, text } = await app.ask("POST", "/v1/queues/keys/pause", undefined, headers);
    // Spaces around the value of a header are not part of it.
    const errors = [{ path: "Idempotency-Key", message: "must be 1 to 255 visible ASCII characters" }];
    const refused = KEY.test(key.trim()) ? [200, undefined] : [400, errors];
    expect([key, status, JSON.parse(text).errors]).toEqual([key, ...refused]);
  }
});

describe("a name that every JavaScript object has", () => {
  it.each(["__proto__", "constructor", "toString"])(
    "is an unknown field or parameter like any other: %s",
    async (name) => {
      for (const [path, at, rest] of [
        ["/v1/queues/q/tasks", "", '"payload":1,'],
        ["/v1/queues/q/tasks", "dedup.", '"payload":1,"dedup":{"key":"k","window":1,'],
        ["/v1/queues/q/tasks/settle", "", '"settlements":[],'],
        ["/v1/sweep", "", '"budget":1,'],
      ] as const) {
        const { status, text } = await post(path, `{${rest}"${name}":{"polluted":true}}${at && "}"}`);
        const unknown = { path: `${at}${name}`, message: "is not a known field" };
        expect([path, status, JSON.parse(text).errors]).toEqual([path, 400, [unknown]]);
      }
      for (const query of [`${name}=1`, `${name}=1&${name}=2`, `${name}[polluted]=1`])
        expect([query, (await get(`/v1/queues/q?${query}`)).status]).toEqual([query, 400]);
    },
  );

  // In payloads, results and errors: body-contents.test.ts.
  it("comes back in headers and progress as it was sent", async () => {
    const json = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"toString":1}';
    const headers = '{"__proto__":"a","constructor":"b","toString":"c"}';
    const own = "/v1/queues/own/tasks";
    await post(own, `{"id":"x","payload":1,"headers":${headers}}`);
    const pulled = (await post(`${own}/pull`)).text;
    expect(pulled).toContain(`"headers":${headers}`);
    const { receipt } = JSON.parse(pulled).tasks[0];
    const settlement = `{"receipt":"${receipt}","outcome":"extend","progress":${json}}`;
    await post(`${own}/settle`, `{"settlements":[${settlement}]}`);
    expect((await get(`${own}/x`)).text).toContain(`"progress":${json}`);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});
