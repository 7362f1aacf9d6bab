import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectProblem, serve } from "./served.ts";

let served: Awaited<ReturnType<typeof serve>>;

beforeAll(async () => {
  served = await serve();
});
afterAll(() => served.stop());

const enqueue = (json: unknown, headers = {}) => served.ask("POST", "/v1/queues/q/tasks", { json, headers });

const IN_SECONDS = "must be in milliseconds: an instant of ten digits is taken to be in seconds";

describe("invalid_request", () => {
  it("lists every fault of a body with its path", async () => {
    const answer = await enqueue({
      tasks: [
        { payload: 1, grupo: "g", prio: 1 },
        { id: "", delay: "soon", maxAttempts: -1, headers: { a: 1, b: "b" } },
        5,
        [],
        { payload: 1, lease: -1, at: 1.5, deadTtl: null },
      ],
      worker: "w",
    });
    const durations =
      'must be a duration: whole milliseconds, or a text such as "250ms", "30s", "5m", "1.5h", "7d"';
    expect(expectProblem(answer, "invalid_request").errors).toEqual([
      { path: "tasks[0].grupo", message: "is not a known field" },
      { path: "tasks[0].prio", message: "is not a known field" },
      { path: "tasks[1].payload", message: "is required" },
      {
        path: "tasks[1].id",
        message: "must be 1 to 128 visible ASCII characters, the first a letter or digit",
      },
      { path: "tasks[1].delay", message: durations },
      { path: "tasks[1].maxAttempts", message: "must be a whole number from 0 to 1000000" },
      { path: "tasks[1].headers.a", message: "must be a string" },
      { path: "tasks[2]", message: "must be an object" },
      { path: "tasks[3]", message: "must be an object" },
      { path: "tasks[4].at", message: expect.stringMatching(/^must be a whole number/) },
      {
        path: "tasks[4].lease",
        message: expect.stringMatching(/^must be a duration of 1 to 315360000000 ms: /),
      },
      { path: "tasks[4].deadTtl", message: durations },
      { path: "worker", message: "is not a known field" },
    ]);
  });

  it.each([
    ["", [], "must be an object"],
    ["", "text", "must be an object"],
    ["", null, "must be an object"],
    ["payload", {}, "is required"],
    ["constructor", { payload: 1, constructor: 1 }, "is not a known field"],
    ["tasks", { tasks: [] }, "must have at least one task"],
    ["tasks", { tasks: {} }, "must be an array"],
    ["encoding", { payload: "", encoding: "hex" }, 'must be "base64", or left out'],
    ["delay", { payload: 1, delay: "9999999d" }, expect.stringMatching(/^must be a duration/)],
    ["at", { payload: 1, delay: 1, at: 1 }, "must not be given with delay"],
    ["at", { payload: 1, at: 2 ** 52, group: "g" }, "must be a whole number from 0 to 4503599627370495"],
    ["at", { payload: 1, at: 1_800_000_000 }, IN_SECONDS],
    ["headers", { payload: 1, headers: ["a"] }, "must be an object of strings"],
    ["priority", { payload: 1, priority: 10 }, "must be a whole number from 0 to 9"],
    ["group", { payload: 1, group: "a b" }, expect.stringMatching(/^must be 1 to 128 visible ASCII/)],
    ["dedup.key", { payload: 1, dedup: { key: "", window: 1 } }, expect.stringMatching(/^must be 1 to 128/)],
    ["dedup.window", { payload: 1, dedup: { key: "k" } }, "is required"],
    ["dedup.window", { payload: 1, dedup: { key: "k", window: 0 } }, expect.stringMatching(/of 1 to \d+ ms/)],
    ["dedup.per", { payload: 1, dedup: { key: "k", window: 1, per: "day" } }, "is not a known field"],
    ["again", { payload: 1, again: true }, "must be given with an id"],
    ["unique", { payload: 1, unique: "24h" }, "must be given with an id"],
    ["unique", { payload: 1, id: "x", again: true, unique: "24h" }, "must not be given with again"],
    ["unique", { payload: 1, id: "x", unique: "a day" }, expect.stringMatching(/^must be a duration/)],
    ["again", { payload: 1, id: "x", again: true, dedup: { key: "k", window: 1 } }, expect.any(String)],
  ])("names the field %j of an enqueue: %j", async (path, json, message) => {
    const { errors } = expectProblem(await enqueue(json), "invalid_request");
    expect(errors).toEqual([{ path, message }]);
  });

  it.each([
    ["wait", { wait: "61s" }],
    ["wait", { wait: "soon" }],
    ["worker", { worker: "w" }],
    ["worker.name", { worker: {} }],
    ["worker.name", { worker: { name: "a b" } }],
    ["worker.incarnation", { worker: { name: "w", incarnation: "" } }],
    ["worker.node", { worker: { name: "w", node: "x".repeat(129) } }],
    ["worker.pid", { worker: { name: "w", pid: "4711" } }],
    ["worker.silentAfter", { worker: { name: "w", silentAfter: 0 } }],
    ["worker.host", { worker: { name: "w", host: "h" } }],
    ["max", { max: 101 }],
    ["max", { max: 0 }],
    ["max", { max: "10" }],
    ["token", { token: "short" }],
    ["lease", { lease: 0 }],
    ["maxBytes", { maxBytes: 0 }],
  ])("names the field %j of a pull: %j", async (path, json) => {
    const { errors } = expectProblem(
      await served.ask("POST", "/v1/queues/q/tasks/pull", { json }),
      "invalid_request",
    );
    expect(errors).toEqual([{ path, message: expect.any(String) }]);
  });

  it.each([
    ["settlements", {}],
    ["settlements[0].outcome", { settlements: [{ receipt: "r", outcome: "done" }] }],
    [
      "settlements[0].result",
      { settlements: [{ receipt: "1.1.1.abcdefgh.x", outcome: "reject", result: 1 }] },
    ],
    [
      "settlements[0].encoding",
      { settlements: [{ receipt: "1.1.1.abcdefgh.x", outcome: "complete", encoding: "base64" }] },
    ],
    [
      "settlements[1].receipt",
      {
        settlements: [
          { receipt: "1.1.1.abcdefgh.x", outcome: "complete" },
          { receipt: "r", outcome: "complete" },
        ],
      },
    ],
    ["settlements[0]", { settlements: [null] }],
    ["settlements[0].ttl", { settlements: [{ receipt: "1.1.1.abcdefgh.x", outcome: "requeue", ttl: 1 }] }],
    [
      "settlements[0].unstarted",
      { settlements: [{ receipt: "1.1.1.abcdefgh.x", outcome: "requeue", unstarted: true, delay: 1 }] },
    ],
    ...[0, [], [true], false, { bas: 1 }].map((backoff): [string, object] => [
      "settlements[0].backoff",
      { settlements: [{ receipt: "1.1.1.abcdefgh.x", outcome: "requeue", backoff }] },
    ]),
    ...Object.entries({ factor: 0.5, most: "soon" }).map(([name, value]): [string, object] => [
      `settlements[0].backoff.${name}`,
      {
        settlements: [{ receipt: "1.1.1.abcdefgh.x", outcome: "requeue", backoff: { [name]: value } }],
      },
    ]),
    [
      "settlements[0].backoff",
      { settlements: [{ receipt: "1.1.1.abcdefgh.x", outcome: "requeue", backoff: true, delay: 1 }] },
    ],
    [
      "settlements[0].progress",
      { settlements: [{ receipt: "1.1.1.abcdefgh.x", outcome: "complete", progress: 1 }] },
    ],
    ["pull.max", { settlements: [], pull: { max: 101 } }],
    ["pull", { settlements: [], pull: true }],
    ["pull.lease", { settlements: [], pull: { lease: 0 } }],
    ["pull.wait", { settlements: [], pull: { wait: "61s" } }],
    ["pull.worker.silentAfter", { settlements: [], pull: { worker: { name: "w", silentAfter: 0 } } }],
    ["settlements[0]", { settlements: [["complete"]] }],
  ])("names the field %j of a settle: %j", async (path, json) => {
    const { errors } = expectProblem(
      await served.ask("POST", "/v1/queues/q/tasks/settle", { json }),
      "invalid_request",
    );
    expect(errors).toEqual([{ path, message: expect.any(String) }]);
  });

  it.each(["r", "", "1.1.1.short.x", `1.1.1.abcdefgh.${"x".repeat(129)}`])(
    "says where receipts come from if one is invalid, such as %j",
    async (receipt) => {
      const settlements = [{ receipt, outcome: "complete" }];
      const { errors } = expectProblem(
        await served.ask("POST", "/v1/queues/q/tasks/settle", { json: { settlements } }),
        "invalid_request",
      );
      expect(errors).toEqual([{ path: "settlements[0].receipt", message: "must be a receipt from a pull" }]);
    },
  );

  it.each([{ payload: 1 }, { id: "x" }])("refuses %j beside tasks", async (one) => {
    const { errors } = expectProblem(await enqueue({ ...one, tasks: [{ payload: 2 }] }), "invalid_request");
    const [name] = Object.keys(one);
    expect(errors).toEqual([
      { path: "tasks", message: `must not be sent with ${name}: send either one task or \`tasks\`` },
    ]);
  });

  it.each(["", " ", "a b", "é".normalize(), "x".repeat(256)])(
    "refuses the Idempotency-Key %j",
    async (key) => {
      const value = Buffer.from(key).toString("latin1");
      const { errors } = expectProblem(
        await enqueue({ payload: 1 }, { "idempotency-key": value }),
        "invalid_request",
      );
      expect(errors).toEqual([
        { path: "Idempotency-Key", message: "must be 1 to 255 visible ASCII characters" },
      ]);
    },
  );

  it.each([
    ["queue", "/v1/queues/.a"],
    ["queue", "/v1/queues/a%2Fb"],
    ["queue", "/v1/queues/a%20b"],
    ["queue", "/v1/queues/%7Ba%7D"],
    ["queue", `/v1/queues/${"x".repeat(129)}`],
    ["queue", "/v1/queues/%C3%A9"],
    ["id", "/v1/queues/a/tasks/%2F"],
    ["id", "/v1/queues/a/tasks/%20x"],
    ["id", `/v1/queues/a/tasks/${"x".repeat(129)}`],
    ["path", "/v1/queues/%E0%A4%A"],
    ["path", "/v1/queues/%zz/tasks/1"],
    ["cursor", "/v1/queues?cursor=x"],
    ["size", "/v1/queues?size=1001"],
    ["cursor", "/v1/queues?cursor=1&cursor=2"],
    ["state", "/v1/queues/a?state=pending"],
    ["wait", "/v1/queues/a/tasks/x?wait=soon"],
  ])("names %j in the address %s and says what is allowed", async (path, address) => {
    const { errors } = expectProblem(await served.ask("GET", address), "invalid_request");
    expect(errors).toEqual([{ path, message: expect.any(String) }]);
  });

  it("refuses a budget that is longer than a minute", async () => {
    const { errors } = expectProblem(
      await served.ask("POST", "/v1/sweep", { json: { budget: "2m" } }),
      "invalid_request",
    );
    expect(errors[0].path).toBe("budget");
  });
});
