import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { KEY } from "../../src/queue/core/validation.ts";
import { readKeySpace } from "../support/key-space.ts";
import {
  halves,
  inBodies,
  inPaths,
  inQueries,
  names,
  type Place,
  tasks,
  unreadable,
} from "./hostile-places.ts";
import { type Answer, serve } from "./served.ts";

// Names that other systems fail on, in every place that takes one.

let served: Awaited<ReturnType<typeof serve>>;
let count = 0;
beforeAll(async () => {
  served = await serve();
});
afterAll(() => served.stop());
afterEach(async () => {
  expect(Object.getOwnPropertyNames(Object.prototype).toSorted()).toEqual(ofObject);
  // Whatever was asked: there are only keys of queues with an allowed name.
  const foreign = Object.keys(await readKeySpace(served.redis.url)).filter(
    (key) => key !== "sluice:queues" && !/^sluice:\{[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}\}:[a-z-]+$/.test(key),
  );
  expect(foreign).toEqual([]);
});
const ofObject = Object.getOwnPropertyNames(Object.prototype).toSorted();

const problemType = "application/problem+json";

/** What is wrong with the answer, if anything is. */
function fault(answer: Answer, { path, takes }: Place, name: string, inThePath: boolean): string | undefined {
  const { status, headers, body } = answer;
  const reported = `${JSON.stringify(name.slice(0, 40))}: ${status} ${JSON.stringify(body).slice(0, 200)}`;
  if (status < 400) return takes(name) ? undefined : reported;
  if (headers.get("content-type") !== problemType) return reported;
  if (takes(name)) return status === 404 && body.code === "not_found" ? undefined : reported;
  // An empty name, and one that a URL takes for a step up, make another path.
  if (inThePath && ["", ".", ".."].includes(name)) return [404, 405].includes(status) ? undefined : reported;
  if (status !== 400 || body.code !== "invalid_request") return reported;
  const paths = body.errors.map((one: { path: string }) => one.path);
  return paths.length === 1 && paths[0] === path ? undefined : reported;
}

async function faultsOf(place: Place, tried: readonly string[], inThePath = false) {
  const faults: string[] = [];
  for (const name of tried) {
    const answer = await served.ask(...place.asks(name, `q${++count}`));
    const wrong = fault(answer, place, name, inThePath);
    if (wrong !== undefined) faults.push(wrong);
  }
  return faults;
}

describe.each(Object.entries(inBodies))("%s", (_, place) => {
  it("takes the allowed names, and names the wrong field for every other", async () => {
    expect(await faultsOf(place, [...names, ...halves])).toEqual([]);
  });

  it("is refused if it is not a string", async () => {
    for (const value of [null, 1, true, [], {}, ["a"]]) {
      const [method, path, options] = place.asks(value as unknown as string, "q");
      const isNull = value === null && place.path === "incarnation";
      if (place.asks === inBodies["the id in a receipt"]!.asks || isNull) continue;
      const { status, body } = await served.ask(method, path, options);
      expect([value, status, body.errors?.map((one: { path: string }) => one.path)]).toEqual([
        value,
        400,
        [place.path],
      ]);
    }
  });
});

it.each(Object.entries(inQueries))("%s: as in a body", async (_, place) => {
  expect(await faultsOf(place, names)).toEqual([]);
});

describe.each(Object.entries(inPaths))("%s in a path", (_, place) => {
  it("takes the allowed names, and the fault says which name is wrong for every other", async () => {
    expect(await faultsOf(place, names, true)).toEqual([]);
  });

  it("is refused if its escapes are invalid", async () => {
    const [method, path] = place.asks("NAME", "q");
    for (const raw of unreadable) {
      const { status, body } = await served.ask(method, path.replace("NAME", raw));
      expect([raw, status, body.errors]).toEqual([
        raw,
        400,
        [{ path: "path", message: "must be percent-encoded UTF-8" }],
      ]);
    }
  });
});

it("an Idempotency-Key is any visible ASCII text", async () => {
  for (const key of names.filter((name) => !/[^\t -ÿ]/.test(name))) {
    // Spaces around the value of a header are not part of it.
    const taken = KEY.test(key.trim());
    const headers = { "idempotency-key": key };
    const { status, body } = await served.ask("POST", "/v1/queues/keys/tasks", {
      json: { payload: 1 },
      headers,
    });
    const paths = body.errors?.map((one: { path: string }) => one.path);
    expect([key, status === 400, paths]).toEqual([key, !taken, taken ? undefined : ["Idempotency-Key"]]);
    expect(status).toBeLessThan(500);
  }
});

describe("a name that every JavaScript object has", () => {
  const hostile = ["__proto__", "constructor", "prototype", "hasOwnProperty", "toString", "valueOf"];

  it.each(hostile)("is an unknown field or parameter like any other: %s", async (name) => {
    const unknown = { path: name, message: "is not a known field" };
    for (const [path, rest] of [
      ["/v1/queues/q/tasks", '"payload":1'],
      ["/v1/queues/q/tasks/pull", '"max":1'],
      ["/v1/queues/q/tasks/settle", '"settlements":[]'],
      ["/v1/queues/q/tasks/x/cancel", '"lease":1'],
      ["/v1/queues/q/redrive", '"limit":1'],
      ["/v1/sweep", '"budget":1'],
    ]) {
      const raw = `{${rest},"${name}":{"polluted":true}}`;
      const { status, body } = await served.ask("POST", path!, { raw });
      expect([path, status, body.errors]).toEqual([path, 400, [unknown]]);
    }
    const nested = await served.ask("POST", "/v1/queues/q/tasks", {
      raw: `{"payload":1,"dedup":{"key":"k","window":1,"${name}":1}}`,
    });
    expect(nested.body.errors).toEqual([{ ...unknown, path: `dedup.${name}` }]);
    for (const query of [`${name}=1`, `${name}=1&${name}=2`, `${name}[polluted]=1`]) {
      const { status } = await served.ask("GET", `/v1/queues/q?${query}`);
      expect([query, status]).toEqual([query, 400]);
    }
  });

  it("comes back in a payload, a result, headers and progress as it was sent", async () => {
    const json = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"toString":1}';
    const headers = '{"__proto__":"a","constructor":"b","toString":"c"}';
    await served.ask("POST", "/v1/queues/own/tasks", {
      raw: `{"id":"x","payload":${json},"headers":${headers}}`,
    });
    const pulled = (await served.ask("POST", "/v1/queues/own/tasks/pull")).body.tasks[0];
    expect(JSON.stringify(pulled.payload)).toBe(json);
    expect(JSON.stringify(pulled.headers)).toBe(headers);
    const settle = (outcome: string) =>
      served.ask("POST", "/v1/queues/own/tasks/settle", {
        raw: `{"settlements":[{"receipt":"${pulled.receipt}",${outcome}}]}`,
      });
    await settle(`"outcome":"extend","progress":${json}`);
    const { progress } = (await served.ask("GET", "/v1/queues/own/tasks/x")).body;
    expect(JSON.stringify(progress)).toBe(json);
    await settle(`"outcome":"complete","result":${json}`);
    const { result } = (await served.ask("GET", "/v1/queues/own/tasks/x")).body;
    expect(JSON.stringify(result)).toBe(json);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

it("tasks with the same id stay apart in two queues whose names could be mistaken for each other's keys", async () => {
  const pairs = ["a", "a.b", "a-b", "-", "_", "__proto__", "constructor"];
  for (const queue of pairs) {
    const { status } = await served.ask("POST", tasks(queue), {
      json: { payload: queue, id: "constructor" },
    });
    expect([queue, status]).toEqual([queue, 201]);
  }
  for (const queue of pairs) {
    const { body } = await served.ask("POST", `${tasks(queue)}/pull`, { json: { max: 100 } });
    expect(body.tasks.map(({ id, payload }: { id: string; payload: string }) => [id, payload])).toEqual([
      ["constructor", queue],
    ]);
  }
});
