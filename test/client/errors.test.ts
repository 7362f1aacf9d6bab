import { describe, expect, test } from "vitest";
import { createClient, type ClientQueue, type Fetch, type SluiceErrorCode } from "../../src/client/index.ts";
import { type ProblemCode, problems } from "../../src/http/problems/codes.ts";
import { secrets } from "../http/served.ts";
import { failure, payload, problemOf } from "./failure.ts";
import { useServer, type Fault } from "./rig.ts";

const server = useServer();

describe("each problem of the server has an error code", () => {
  /** The problems by the code of their error, which for some is their own. */
  const meanings = {
    "their own":
      "unauthorized unsupported queue_full idempotency_key_reused redis_unauthorized redis_error redis_quota " +
      "offload_failed newer_schema",
    invalid_argument: "invalid_request invalid_json",
    unauthorized: "forbidden foreign_origin auth_not_configured",
    unsupported: "not_found no_route method_not_allowed",
    unexpected_reply:
      "already_ended alive not_blocked not_dead_letter still_working lease_lost worker_lost unsupported_media_type",
    too_large: "payload_too_large",
    "sent again":
      "body_too_slow internal unexpected_reply misconfigured unhealthy redis_not_writable redis_unreachable",
  };
  const expected = Object.entries(meanings).flatMap(([meaning, codes]) =>
    codes.split(" ").map((code) => [code as ProblemCode, meaning === "their own" ? code : meaning] as const),
  );

  test.each(expected)("%s: %s", async (code, meaning) => {
    server.way().faults = [problemOf(code, problems[code].status)];
    const queue = server.client().queue("emails");
    if (meaning === "sent again") {
      expect(await queue.enqueue(payload, { id: "a" })).toEqual({ id: "a", created: true });
      expect(server.way().copies.length).toBe(2);
    } else {
      const reported = { code: meaning, message: `About ${code}` };
      expect(await failure(() => queue.enqueue(payload))).toEqual(reported);
      expect(server.way().copies.length).toBe(1);
    }
  });

  test("no problem is left out", () => {
    expect(expected.map(([code]) => code).toSorted()).toEqual(Object.keys(problems).toSorted());
  });

  test("a refusal is a value only if the call can be refused so", async () => {
    const queue = server.client().queue("emails");
    server.way().faults = [problemOf("worker_lost", 409), problemOf("worker_lost", 409)];
    expect(await queue.heartbeat({ name: "w" })).toEqual({ ok: false, code: "worker_lost" });
    expect(await failure(() => queue.cancel("a"))).toMatchObject({ code: "unexpected_reply" });
  });
});

describe("the server's own refusals", () => {
  test("of a token that is unknown or lacks the scope", async () => {
    const stranger = server.client({ token: "unknown-0123456789" }).queue("emails");
    expect(await failure(() => stranger.enqueue(payload))).toEqual({
      code: "unauthorized",
      message:
        "This server does not know the token. Its tokens are in SLUICE_TOKENS, and that of its cron in CRON_SECRET",
    });
    const consumer = server.client({}, "consume").queue("emails");
    expect(await failure(() => consumer.enqueue(payload))).toEqual({
      code: "unauthorized",
      message: "The token does not have the scope enqueue for the queue emails",
    });
  });

  test("of input, with its path; several faults are in the message", async () => {
    const queue = server.client().queue("emails");
    expect(await failure(() => queue.enqueue(payload, { delay: "soon" as never, priority: 10 }))).toEqual({
      code: "invalid_argument",
      path: "priority",
      message:
        "priority must be a whole number from 0 to 9; delay must be a duration: whole milliseconds, or " +
        'a text such as "250ms", "30s", "5m", "1.5h", "7d"',
    });
    expect(await failure(() => queue.dequeue({ max: 101 }))).toEqual({
      code: "invalid_argument",
      path: "max",
      message: "max must be a whole number from 1 to 100",
    });
  });

  test("of a route that it does not have", async () => {
    const queue = server.client({ url: `${server.way().url}/elsewhere` }).queue("emails");
    const refused = { code: "unsupported", message: "This path does not exist. `/docs` lists all routes" };
    expect(await failure(() => queue.enqueue(payload))).toEqual(refused);
    // Not to be mistaken for an unknown task.
    expect(await failure(() => queue.get("x"))).toEqual(refused);
    expect(await failure(() => queue.cancel("x"))).toEqual(refused);
  });
});

describe("an answer that is not the server's is not retried", () => {
  const headers = { "content-type": "application/json" };
  const other = "with a body that is not a reply to the request";
  test.each<[string, Fault, SluiceErrorCode, string]>([
    ["a 404 of a page", { status: 404, body: payload }, "unexpected_reply", "HTTP 404"],
    ["a 400 of a proxy", { status: 400, body: payload }, "unexpected_reply", "HTTP 400"],
    ["a 403 of a firewall", { status: 403 }, "unauthorized", "HTTP 403"],
    ["a 413 of a proxy", { status: 413 }, "too_large", "HTTP 413"],
    ["another's JSON", { status: 200, body: `{"x":"${payload}"}`, headers }, "unexpected_reply", other],
  ])("%s", async (_, fault, code, words) => {
    server.way().faults = [fault];
    const message = `the server answered ${words}`;
    expect(await failure(() => server.client().queue("emails").enqueue(payload))).toEqual({ code, message });
    expect(server.way().copies.length).toBe(1);
  });

  test("a problem of a later release", async () => {
    server.way().faults = [problemOf("overheated", 409)];
    const refused = { code: "unexpected_reply", message: "About overheated" };
    expect(await failure(() => server.client().queue("emails").enqueue(payload))).toEqual(refused);
    expect(server.way().copies.length).toBe(1);
  });

  test.each([301, 302, 303, 307, 308])("a %s: the token goes nowhere else", async (status) => {
    const way = server.way();
    way.faults = [{ status, headers: { location: `${way.url}/v1/queues/emails/tasks` } }];
    expect(await failure(() => server.client().queue("emails").enqueue(payload))).toEqual({
      code: "unexpected_reply",
      message: "the server answered with a redirect, which is not followed; url must be its target",
    });
    expect(way.copies.length).toBe(1);
  });
});

describe("a caller's signal", () => {
  test.each<[string, Fault[]]>([
    ["during the wait for an answer", ["hang"]],
    ["between two copies", [{ status: 503, headers: { "retry-after": "5" } }]],
  ])("ends the call at once, %s", async (_, faults) => {
    server.way().faults = faults;
    const controller = new AbortController();
    const queue = server.client().queue("emails");
    const enqueued = failure(() => queue.enqueue(payload, { signal: controller.signal }));
    await expect.poll(() => server.way().copies.length).toBe(1);
    controller.abort(new Error(payload));
    expect(await enqueued).toEqual({
      code: "aborted",
      message: "the request was aborted by its signal; it may have taken effect",
    });
    expect(server.way().copies.length).toBe(1);
  });

  test("keeps no listener when the call is over", async () => {
    const { signal } = new AbortController();
    let listeners = 0;
    const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
    signal.addEventListener = (...args: Parameters<typeof add>) => (listeners++, add(...args));
    signal.removeEventListener = (...args: Parameters<typeof remove>) => (listeners--, remove(...args));
    server.way().faults = ["reset"];
    await server.client().queue("emails").enqueue(payload, { signal });
    expect(listeners).toBe(0);
  });
});

describe("a client with wrong options", () => {
  const good = { url: "https://queue.example", token: secrets.all };
  test.each<[options: object, path: string, words: string]>([
    [{ url: undefined, token: "" }, "url", "url and token are missing: pass the server's URL"],
    [{ url: undefined }, "url", "url is missing: pass the server's URL and one of its bearer tokens"],
    [{ url: "redis://x" }, "url", "a URL that begins with https:// or http://"],
    [{ url: `https://a:${payload}@x` }, "url", "a URL without user, password, query and fragment"],
    [{ url: "https://x?y=1" }, "url", "query and fragment"],
    [{ token: null }, "token", "token is missing: pass the server's URL and one of its bearer tokens"],
    [{ token: 1 }, "token", "token must be visible ASCII characters"],
    [{ token: `${payload}\n` }, "token", "visible ASCII characters"],
    [{ fetch: "fetch" }, "fetch", "a function"],
    [{ retry: { deadline: 0 } }, "retry.deadline", "a duration of 1 to 2147483647 ms"],
    [{ tokn: 1 }, "tokn", "unknown option; expected one of url, token, fetch, retry"],
    [{ retry: { tries: 1 } }, "retry.tries", "deadline, tryTimeout"],
  ])("%j", async (options, path, words) => {
    const error = await failure(async () => createClient({ ...good, ...options }));
    expect(error).toMatchObject({ code: "invalid_argument", path });
    expect(error.message).toContain(words);
  });

  test("a queue with an invalid name, an unknown option or an invalid schema", async () => {
    const wrong: [name: string, options: object, path: string][] = [
      ["a/b", {}, "queue"],
      ["emails", { leas: 1 }, "leas"],
      ["emails", { schema: {} }, "schema"],
    ];
    for (const [name, options, path] of wrong) {
      const error = await failure(async () => createClient(good).queue(name, options));
      expect(error).toMatchObject({ code: "invalid_argument", path });
    }
  });

  test("input that no request could carry is refused before a request", async () => {
    const never: Fetch = () => expect.unreachable("a request was sent");
    const queue: ClientQueue = createClient({ ...good, fetch: never }).queue("emails");
    const cyclic: { self?: unknown } = {};
    cyclic.self = cyclic;
    for (const run of [
      () => queue.enqueue(cyclic),
      () => queue.enqueue(1, { delay: 1n as never }),
      () => queue.get("a b"),
      () => queue.enqueue(1, { idempotencyKey: "ü" }),
      () => queue.dequeue({ wait: "long" as never }),
    ]) {
      expect(await failure(run)).toMatchObject({ code: "invalid_argument" });
    }
  });
});
