import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { SluiceError, type SluiceErrorCode } from "../../src/errors.ts";
import { notInstalled } from "../../src/optional-package.ts";
import { dashboard } from "../../src/dashboard/index.ts";
import { configErrorResponse } from "../../src/http/problems/config-error.ts";
import { type ProblemCode, problems } from "../../src/http/problems/codes.ts";
import { offload } from "../../src/features/offload/index.ts";
import type { Transport } from "../../src/kernel/transport.ts";
import { resp } from "../../src/transports/resp.ts";
import { type Answer, type Ask, asker, expectProblem as expectAnswer, serve, useServed } from "./served.ts";

const served = useServed({ onError: () => {} });
const { asking } = served;
const seen = new Set<ProblemCode>();

afterEach(() => vi.restoreAllMocks());

/** Checks the answer, and notes that this problem was seen. */
function expectProblem(answer: Answer, code: ProblemCode): Answer["body"] {
  seen.add(code);
  return expectAnswer(answer, code);
}

/** A transport whose Redis answers every command with that error. */
const failing = (code: SluiceErrorCode): Transport => ({
  send: async (commands) => commands.map(() => ({ error: new SluiceError(code, "the words of Redis") })),
});

describe("the faults of a client", () => {
  it("invalid_request, invalid_json, unsupported_media_type, payload_too_large: a body of another form, another type, or too long", async () => {
    const post = (raw: string, headers = {}) => served.ask("POST", "/v1/queues/q/tasks", { raw, headers });
    const { errors } = expectProblem(await post('{"paylod":1}'), "invalid_request");
    expect(errors).toEqual([
      { path: "payload", message: "is required" },
      { path: "paylod", message: "is not a known field" },
    ]);
    expectProblem(await post("{"), "invalid_json");
    expectProblem(await post("{}", { "content-type": "text/plain" }), "unsupported_media_type");
    expectProblem(await post(" ".repeat(10_000_001)), "payload_too_large");
  });

  it("body_too_slow: a body that does not end in time", async () => {
    const raw = new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array([0x20])) });
    const answer = await asking({ limits: { bodyTime: 20 } })("POST", "/v1/queues/q/tasks", { raw });
    expect(expectProblem(answer, "body_too_slow").detail).toBe("The body must arrive within 0.02 seconds.");
  });

  it("unauthorized, forbidden, foreign_origin: no token, one without the scope, a request that the dashboard's page did not send", async () => {
    expectProblem(await served.ask("GET", "/v1/queues", { as: null }), "unauthorized");
    expectProblem(await served.ask("GET", "/v1/queues", { as: "enqueue" }), "forbidden");
    const headers = { origin: "https://evil.test" };
    expectProblem(await asking({ dashboard })("DELETE", "/dashboard/session", { headers }), "foreign_origin");
  });

  it("no_route, not_found: another path, a task that never existed", async () => {
    for (const path of ["//", "/v1/queues/a/b", "/v2/queues"])
      expectProblem(await served.ask("GET", path), "no_route");
    expectProblem(await served.ask("GET", "/v1/queues/q/tasks/missing"), "not_found");
    expectProblem(await served.ask("POST", "/v1/queues/q/tasks/missing/cancel"), "not_found");
  });

  it.each([
    ["DELETE", "/v1/queues/a/tasks", "GET, HEAD, POST, OPTIONS"],
    ["GET", "/v1/queues/a/tasks/x/cancel", "POST, OPTIONS"],
    ["PUT", "/v1/queues/a/tasks/x", "DELETE, GET, HEAD, OPTIONS"],
    ["GET", "/v1/queues/a/pause", "POST, OPTIONS"],
    ["POST", "/v1/queues/a/settings", "GET, HEAD, PATCH, OPTIONS"],
    ["PUT", "/v1/queues/a", "DELETE, GET, HEAD, OPTIONS"],
    ["GET", "/v1/queues/a/workers/heartbeat", "DELETE, POST, OPTIONS"],
    ["PATCH", "/v1/queues/a/tasks/pull", "DELETE, GET, HEAD, POST, OPTIONS"],
    ["PUT", "/v1/sweep", "GET, POST, OPTIONS"],
    ["POST", "/health", "GET, HEAD, OPTIONS"],
  ])("method_not_allowed: %s %s, with the allowed methods", async (method, path, allow) => {
    const answer = await served.ask(method, path);
    expectProblem(answer, "method_not_allowed");
    expect(answer.headers.get("allow")).toBe(allow);
    const options = await served.ask("OPTIONS", path, { as: null });
    expect([options.status, options.headers.get("allow")]).toEqual([204, allow]);
  });

  it("alive, not_dead_letter, still_working, lease_lost, already_ended: a task or queue in another state than the call is for", async () => {
    const queue = "/v1/queues/lives";
    await served.ask("POST", `${queue}/tasks`, { json: { payload: 1, id: "x" } });
    expectProblem(await served.ask("DELETE", `${queue}/tasks/x`), "alive");
    expectProblem(await served.ask("POST", `${queue}/tasks/x/skip`), "not_dead_letter");
    const cancel = `${queue}/tasks/x/cancel`;
    expectProblem(await served.ask("POST", cancel, { json: { lease: 99 } }), "lease_lost");
    const [{ receipt }] = (await served.ask("POST", `${queue}/tasks/pull`)).body.tasks;
    expectProblem(await served.ask("DELETE", queue), "still_working");
    const settlements = [{ receipt, outcome: "complete" }];
    await served.ask("POST", `${queue}/tasks/settle`, { json: { settlements } });
    expectProblem(await served.ask("POST", cancel), "already_ended");
  });

  it("not_blocked: tasks added in front of one that waits no more", async () => {
    const tasks = [
      { ref: "a", queue: "waits", payload: 1 },
      { ref: "b", queue: "waits", payload: 1, after: "a" },
    ];
    const { body } = await served.ask("POST", "/v1/flows", { json: { tasks } });
    const at = (ref: string) => `/v1/queues/waits/tasks/${encodeURIComponent(body.tasks[ref])}`;
    const [{ receipt }] = (await served.ask("POST", "/v1/queues/waits/tasks/pull")).body.tasks;
    await served.ask("POST", `${at("b")}/cancel`);
    const json = { receipt, ref: "b", tasks: [{ ref: "c", queue: "waits", payload: 1 }] };
    expectProblem(await served.ask("POST", `${at("a")}/before`, { json }), "not_blocked");
  });

  it("idempotency_key_reused: other tasks under a used Idempotency-Key, and none is created", async () => {
    const headers = { "idempotency-key": "used" };
    const enqueueUnder = (...payloads: number[]) => {
      const json = { tasks: payloads.map((payload) => ({ payload })) };
      return served.ask("POST", "/v1/queues/reused/tasks", { json, headers });
    };
    await enqueueUnder(1);
    expectProblem(await enqueueUnder(1, 2, 3), "idempotency_key_reused");
    expect((await served.ask("GET", "/v1/queues/reused")).body.pending).toBe(1);
  });

  it("worker_lost: a heartbeat of a worker that was failed", async () => {
    const json = { worker: { name: "w" } };
    await served.ask("POST", "/v1/queues/failed/tasks", { json: { payload: 1 } });
    await served.ask("POST", "/v1/queues/failed/tasks/pull", { json });
    await served.ask("POST", "/v1/queues/failed/workers/w/fail");
    expectProblem(await served.ask("POST", "/v1/queues/failed/workers/heartbeat", { json }), "worker_lost");
  });
});

describe("the faults of Redis", () => {
  const enqueue = (ask: Ask) => ask("POST", "/v1/queues/q/tasks", { json: { payload: 1 } });
  const silent = { onError: () => {} };
  const retry = { tries: 2, firstWait: 1 };

  it("queue_full: a Redis without memory, and the enqueue wrote nothing", async () => {
    const full = await serve(silent, ["--maxmemory", "1mb", "--maxmemory-policy", "noeviction"]);
    onTestFinished(() => full.stop());
    expectProblem(await enqueue(full.ask), "queue_full");
    expect((await full.ask("GET", "/v1/queues/q")).body.pending).toBe(0);
  });

  it("redis_unauthorized: a Redis that requires a password", async () => {
    const closed = await serve(silent, []);
    onTestFinished(() => closed.stop());
    await closed.transport.send([["CONFIG", "SET", "requirepass", "secret"]]);
    const url = closed.redis.url;
    const transport = resp(url);
    onTestFinished(() => transport.close());
    for (const path of ["/v1/queues/q", "/health"])
      expectProblem(await asking({ transport })("GET", path), "redis_unauthorized");
  });

  it("redis_not_writable: a Redis with too few replicas", async () => {
    const alone = await serve(silent, ["--min-replicas-to-write", "1"]);
    const transport = resp({ url: alone.redis.url, retry });
    onTestFinished(() => Promise.all([transport.close(), alone.stop()]).then(() => {}));
    const ask = asking({ transport });
    expectProblem(await enqueue(ask), "redis_not_writable");
    expect((await ask("GET", "/v1/queues/q")).status).toBe(200);
  });

  it("redis_unreachable: no server at the address", async () => {
    const transport = resp({ url: "redis://127.0.0.1:1", retry });
    const ask = asking({ transport });
    const written = await enqueue(ask);
    expectProblem(written, "redis_unreachable");
    expect(written.body.detail).toContain("Idempotency-Key");
    for (const path of ["/health", "/v1/queues/q", "/v1/queues/q/tasks/a"]) {
      const read = await ask("GET", path);
      expectProblem(read, "redis_unreachable");
      expect(read.body.detail).toBe("Redis could not be reached in time.");
    }
    await transport.close();
  });

  it("redis_unreachable: a health probe, open to every caller, waits less long than a call", async () => {
    // A transport that goes on trying until it is aborted.
    const send: Transport["send"] = (_, { signal } = {}) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener("abort", () => reject(new SluiceError("aborted", "stopped")));
      });
    const timeout = vi.spyOn(AbortSignal, "timeout").mockReturnValue(AbortSignal.timeout(10));
    expectProblem(await asking({ transport: { send } })("GET", "/health"), "redis_unreachable");
    expect(timeout).toHaveBeenCalledWith(2_000);
  });

  it("misconfigured: the package that reaches Redis is not installed", async () => {
    const send = () => Promise.reject(notInstalled("Redis over TCP", ["@redis/client"]));
    const answer = await asking({ transport: { send } })("GET", "/v1/queues/q");
    const { detail } = expectProblem(answer, "misconfigured");
    expect(detail).toMatch(/^Redis over TCP needs @redis\/client, .*: npm install @redis\/client@6\.$/);
  });

  it("redis_error: a key of another type", async () => {
    await served.transport.send([["SET", "sluice:{broken}:tasks", "text"]]);
    const answer = await served.ask("GET", "/v1/queues/broken/tasks/x");
    expect(JSON.stringify(expectProblem(answer, "redis_error"))).not.toContain("WRONGTYPE");
  });

  it("unsupported: events over a transport that cannot subscribe", async () => {
    const { send } = served.transport;
    const answer = await asking({ transport: { send } })("GET", "/v1/queues/q/events");
    expectProblem(answer, "unsupported");
  });

  it.each(["redis_quota", "newer_schema", "unexpected_reply"] as const)("%s", async (code) => {
    const answer = await asking({ transport: failing(code) })("GET", "/v1/queues/q");
    const body = expectProblem(answer, code);
    expect(body.instance).toMatch(/^urn:uuid:/);
    expect(JSON.stringify(body)).not.toContain("the words of Redis");
  });

  it("are reported in one line, with the instance id of the caller's answer", async () => {
    const error = vi.spyOn(console, "error").mockImplementation(() => {});
    const ask = asking({ transport: failing("redis_quota"), onError: undefined });
    const { body } = await ask("GET", "/v1/queues/secret-name");
    expect(error).toHaveBeenCalledTimes(1);
    expect(JSON.parse(error.mock.calls[0]?.[0] as string)).toEqual({
      instance: body.instance,
      code: "redis_quota",
      method: "GET",
      route: "/v1/queues/:queue",
      error: "SluiceError",
      message: "the words of Redis",
    });
  });
});

describe("the faults of the server", () => {
  it("internal: answers and logs show only where an error was thrown, nothing of its message", async () => {
    const error = vi.spyOn(console, "error").mockImplementation(() => {});
    const send = () => Promise.reject(new TypeError("cannot read the payload 4711"));
    const json = { payload: 4711 };
    const ask = asking({ transport: { send }, onError: undefined });
    const answer = await ask("POST", "/v1/queues/q/tasks", { json });
    expect(expectProblem(answer, "internal").detail).toBe(problems.internal.meaning);
    const line = error.mock.calls[0]?.[0] as string;
    const logged = { code: "internal", error: "TypeError", frames: expect.any(Array) };
    expect(JSON.parse(line)).toMatchObject(logged);
    expect(line + JSON.stringify(answer.body)).not.toContain("4711");
  });

  it("auth_not_configured: no token", async () => {
    expectProblem(await asking({ tokens: [] })("GET", "/v1/queues"), "auth_not_configured");
  });

  it("offload_failed: the object store of large payloads refuses a request; its reason is only logged", async () => {
    const refuse = () => Promise.reject(new SluiceError("offload_failed", "the bucket is private"));
    const store = { put: refuse, get: refuse, delete: refuse, list: refuse };
    const ask = asking({ offload: offload({ store, over: 0 }) });
    const answer = await ask("POST", "/v1/queues/q/tasks", { json: { payload: 1 } });
    expect(JSON.stringify(expectProblem(answer, "offload_failed"))).not.toContain("private");
  });

  it("unhealthy: a paused queue, if asked to fail for warnings", async () => {
    await served.ask("POST", "/v1/queues/stopped/tasks", { json: { payload: 1 } });
    await served.ask("POST", "/v1/queues/stopped/pause");
    const answer = await served.ask("GET", "/v1/health/queues?queues=stopped&fail=warning");
    expect(expectProblem(answer, "unhealthy").detail).toContain("stopped: paused, with 1 pending");
  });

  it("misconfigured: the answer of an entry whose environment is invalid", async () => {
    const fault = new SluiceError("invalid_argument", "X is not set", "X");
    const answer = await asker(() => configErrorResponse(fault))("GET", "/");
    expect(expectProblem(answer, "misconfigured").detail).toBe("X is not set.");
    expect(() => configErrorResponse(new TypeError("a bug"))).toThrow("a bug");
  });
});

it("every answer to HEAD is the answer to GET, without a body", async () => {
  const of = [
    "",
    "/q",
    "/q/tasks/none",
    "/q/tasks?state=pending",
    "/q/settings",
    "/q/groups/g",
    "/q/workers",
  ];
  for (const path of ["/health", "/docs", "/openapi.json", ...of.map((rest) => `/v1/queues${rest}`)]) {
    const [get, head] = [await served.ask("GET", path), await served.ask("HEAD", path)];
    const type = get.headers.get("content-type");
    expect([head.status, head.body, head.headers.get("content-type")]).toEqual([get.status, "", type]);
  }
});

it("every documented problem was seen above", () => {
  expect([...seen].toSorted()).toEqual(Object.keys(problems).toSorted());
});
