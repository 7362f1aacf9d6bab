import * as fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openapi } from "../../src/http/docs/openapi.gen.ts";
import { brokenRequests } from "../fuzz/broken-request.ts";
import { Described } from "../fuzz/document.ts";
import { populate } from "../fuzz/populate.ts";
import { faultsOfRefusal } from "../fuzz/refused.ts";
import type { ReturnedValues } from "../fuzz/returned-values.ts";
import { openAppStack, type Stack, token } from "../fuzz/stack.ts";
import { validRequest } from "../fuzz/valid-request.ts";
import { readKeySpace } from "../support/key-space.ts";
import { type CallOptions, expectProblem } from "./served.ts";

// What a request is refused for, and how the answer names it.

const described = new Described(openapi);
let stack: Stack;
let known: ReturnedValues;
let before: Awaited<ReturnType<typeof keySpace>>;
const keySpace = () => readKeySpace(stack.redisUrl);
beforeAll(async () => {
  stack = await openAppStack();
  known = await populate(described, stack);
  before = await keySpace();
});
afterAll(() => stack.close());

it.each(described.routes.filter(({ path }) => path.startsWith("/v1/")))(
  "$operationId names each field that the document does not allow, and changes nothing",
  async (route) => {
    const plans = fc.sample(validRequest(described, route), { numRuns: 40, seed: 1 });
    const broken = plans.flatMap((plan) => brokenRequests(described, known.filled(plan)));
    // Of each list one item with each fault.
    const ways = new Map(broken.map((one) => [one.how.replaceAll(/\[\d+\]/g, "[]"), one]));
    const wrong: unknown[] = [];
    for (const one of ways.values()) {
      const faults = faultsOfRefusal(described, route, one, await stack.send(one.sent));
      if (faults.length > 0) wrong.push([one.how, ...faults]);
    }
    expect([wrong, await keySpace()]).toEqual([[], before]);
  },
);

const refused = async (method: string, path: string, { json, headers }: CallOptions = {}) => {
  const sent = { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers };
  const body = json === undefined ? undefined : JSON.stringify(json);
  const answer = await stack.send({ method, path, headers: sent, body });
  const { status, text, headers: answered } = answer;
  const problem = {
    status,
    headers: new Headers(answered as Record<string, string>),
    body: JSON.parse(text),
  };
  expect(await keySpace()).toEqual(before);
  return expectProblem(problem, "invalid_request").errors as { path: string; message: string }[];
};

const tasks = "/v1/queues/one/tasks";

it("every fault of a body is listed with its path", async () => {
  const json = {
    tasks: [
      { payload: 1, grupo: "g", prio: 1 },
      { id: "", delay: "soon", maxAttempts: -1, headers: { a: 1, b: "b" } },
      5,
      [],
      { payload: 1, lease: -1, at: 1.5, deadTtl: null },
    ],
    worker: "w",
  };
  const durations =
    'must be a duration: whole milliseconds, or a text such as "250ms", "30s", "5m", "1.5h", "7d"';
  const unknown = "is not a known field";
  const id = "must be 1 to 128 visible ASCII characters, the first a letter or digit";
  expect(await refused("POST", tasks, { json })).toEqual([
    { path: "tasks[0].grupo", message: unknown },
    { path: "tasks[0].prio", message: unknown },
    { path: "tasks[1].payload", message: "is required" },
    { path: "tasks[1].id", message: id },
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
    { path: "worker", message: unknown },
  ]);
});

const receipt = "1.1.1.abcdefgh.x";
const settled = (settlement: object) => ({ json: { settlements: [{ receipt, ...settlement }] } });
const schedule = "/v1/queues/one/schedules/x";
const twice = ["a", "b", "a"].map((name) => ({ name, every: "1h", payload: 1 }));

// Rules that the document does not have, messages that say what to do, and fields of another form.
it.each<[path: string, message: unknown, method: string, url: string, options?: CallOptions]>([
  ["", "is missing", "POST", tasks],
  ["", "must be an object", "POST", tasks, { json: [] }],
  ["tasks", "must have at least one task", "POST", tasks, { json: { tasks: [] } }],
  [
    "tasks",
    "must not be sent with payload: send either one task or `tasks`",
    "POST",
    tasks,
    { json: { payload: 1, tasks: [{ payload: 2 }] } },
  ],
  [
    "at",
    "must be in milliseconds: an instant of ten digits is taken to be in seconds",
    "POST",
    tasks,
    { json: { payload: 1, at: 1_800_000_000 } },
  ],
  ["encoding", 'must be "base64", or left out', "POST", tasks, { json: { payload: "", encoding: "hex" } }],
  ["again", "must be given with an id", "POST", tasks, { json: { payload: 1, again: true } }],
  [
    "Idempotency-Key",
    "must be 1 to 255 visible ASCII characters",
    "POST",
    tasks,
    { json: { payload: 1 }, headers: { "idempotency-key": "a b" } },
  ],
  [
    "settlements[0].receipt",
    "must be a receipt from a pull",
    "POST",
    `${tasks}/settle`,
    settled({ receipt: "1.1.1.short.x", outcome: "complete" }),
  ],
  ["settlements[0].result", any(), "POST", `${tasks}/settle`, settled({ outcome: "reject", result: 1 })],
  ["settlements[0].ttl", any(), "POST", `${tasks}/settle`, settled({ outcome: "requeue", ttl: 1 })],
  [
    "settlements[0].progress",
    any(),
    "POST",
    `${tasks}/settle`,
    settled({ outcome: "complete", progress: 1 }),
  ],
  ["queue", any(), "POST", "/v1/sweep", { json: { queue: "a" } }],
  ["cursor", any(), "POST", "/v1/sweep", { json: { cursor: "x" } }],
  ["schedule", any(), "PUT", schedule, { json: { cron: "0 0 30 2 *", payload: 1 } }],
  ["cron", any(), "PUT", schedule, { json: { cron: "* * * *", payload: 1 } }],
  ["schedules[2].name", any(), "PUT", "/v1/queues/one/declaration", { json: { schedules: twice } }],
  ["reason", any(), "GET", `${tasks}?state=rejected&reason=rejected,tired`],
  ["reason", any(), "GET", `${tasks}?state=rejected&reason=rejected,cancelled`],
  ["reason", any(), "POST", "/v1/queues/one/redrive", { json: { reason: ["cancelled", "rejected"] } }],
  ["path", "must be percent-encoded UTF-8", "GET", "/v1/queues/%E0%A4%A"],
])("%s %s", async (path, message, method, url, options) => {
  expect(await refused(method, url, options)).toEqual([{ path, message }]);
});

function any(): unknown {
  return expect.any(String);
}
