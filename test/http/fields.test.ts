import { beforeAll, expect, it } from "vitest";
import { openapi } from "../../src/http/docs/openapi.gen.ts";
import type { JsonSchema } from "../../src/http/docs/openapi-document.ts";
import { wrongRefusals } from "../long/fuzz/broken-run.ts";
import { readKeySpace } from "../support/key-space.ts";
import { described, isRefused, places, useStack } from "./places.ts";
import type { CallOptions } from "./served.ts";

// What a request is refused for, and how the answer names it.

const app = useStack();
let before: Awaited<ReturnType<typeof keySpace>>;
const keySpace = () => readKeySpace(app.stack.redisUrl);
beforeAll(async () => {
  before = await keySpace();
});

it.each(described.api)(
  "$operationId names each field that the document does not allow, and changes nothing",
  async (route) => {
    const { stack, known } = app;
    const { wrong } = await wrongRefusals(described, route, { stack, known, seed: 1 });
    expect([wrong, await keySpace()]).toEqual([[], before]);
  },
);

const refused = async (method: string, path: string, { json, headers }: CallOptions = {}) => {
  const answer = await app.ask(method, path, json === undefined ? undefined : JSON.stringify(json), headers);
  const { code, errors } = JSON.parse(answer.text);
  expect([answer.status, code, await keySpace()]).toEqual([400, "invalid_request", before]);
  return errors as { path: string; message: string }[];
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
  const duration = 'whole milliseconds, or a text such as "250ms", "30s", "5m", "1.5h", "7d"';
  const errors = await refused("POST", tasks, { json });
  expect(errors.map(({ path, message }) => `${path} ${message}`)).toEqual([
    "tasks[0].grupo is not a known field",
    "tasks[0].prio is not a known field",
    "tasks[1].payload is required",
    "tasks[1].id must be 1 to 128 visible ASCII characters, the first a letter or digit",
    `tasks[1].delay must be a duration: ${duration}`,
    "tasks[1].maxAttempts must be a whole number from 0 to 1000000",
    "tasks[1].headers.a must be a string",
    "tasks[2] must be an object",
    "tasks[3] must be an object",
    expect.stringMatching(/^tasks\[4\]\.at must be a whole number/),
    expect.stringMatching(/^tasks\[4\]\.lease must be a duration of 1 to 315360000000 ms: /),
    `tasks[4].deadTtl must be a duration: ${duration}`,
    "worker is not a known field",
  ]);
});

const receipt = "1.1.1.abcdefgh.x";
const settle = `${tasks}/settle`;
const settled = (settlement: object) => {
  return { settlements: [{ receipt, outcome: "complete", ...settlement }] };
};
const schedule = "/v1/queues/one/schedules/x";
const twice = ["a", "b", "a"].map((name) => ({ name, every: "1h", payload: 1 }));

const both = { payload: 1, tasks: [{ payload: 2 }] };
const inSeconds = { payload: 1, at: 1_800_000_000 };

// Rules that the document does not have, messages that say what to do, and fields of another form.
it.each<[path: string, message: unknown, method: string, url: string, json?: unknown]>([
  ["", "is missing", "POST", tasks],
  ["", "must be an object", "POST", tasks, []],
  ["tasks", "must have at least one task", "POST", tasks, { tasks: [] }],
  ["tasks", "must not be sent with payload: send either one task or `tasks`", "POST", tasks, both],
  ["at", "must be in milliseconds: ten digits are taken to be seconds", "POST", tasks, inSeconds],
  ["encoding", 'must be "base64", or left out', "POST", tasks, { payload: "", encoding: "hex" }],
  ["again", "must be given with an id", "POST", tasks, { payload: 1, again: true }],
  [
    "settlements[0].receipt",
    "must be a receipt from a pull",
    "POST",
    settle,
    settled({ receipt: "1.1.1.short.x" }),
  ],
  ["settlements[0].result", any(), "POST", settle, settled({ outcome: "reject", result: 1 })],
  ["settlements[0].ttl", any(), "POST", settle, settled({ outcome: "requeue", ttl: 1 })],
  ["settlements[0].progress", any(), "POST", settle, settled({ progress: 1 })],
  ["queue", any(), "POST", "/v1/sweep", { queue: "a" }],
  ["cursor", any(), "POST", "/v1/sweep", { cursor: "x" }],
  ["schedule", any(), "PUT", schedule, { cron: "0 0 30 2 *", payload: 1 }],
  ["cron", any(), "PUT", schedule, { cron: "* * * *", payload: 1 }],
  ["schedules[2].name", any(), "PUT", "/v1/queues/one/declaration", { schedules: twice }],
  ["reason", any(), "GET", `${tasks}?state=rejected&reason=rejected,tired`],
  ["reason", any(), "GET", `${tasks}?state=rejected&reason=rejected,cancelled`],
  ["reason", any(), "POST", "/v1/queues/one/redrive", { reason: ["cancelled", "rejected"] }],
])("%s %s", async (path, message, method, url, json) => {
  expect(await refused(method, url, { json })).toEqual([{ path, message }]);
});

function any(): unknown {
  return expect.any(String);
}

const LONGEST = 3_650 * 86_400_000;
const isDuration = ({ anyOf: [number, text] = [] }: JsonSchema) =>
  number?.type === "integer" && text?.pattern?.includes("(?:") === true;
const durations = places(isDuration);

it("every duration in the document is tried", () => {
  const tried = new Set(durations.map(([, { given }]) => given));
  const untried: string[] = [];
  JSON.stringify(openapi.components, (name, node: JsonSchema) => {
    if (node?.$ref?.includes("/schemas/") && isDuration(described.schema(node)) && !tried.has(node))
      untried.push(name);
    return node;
  });
  expect(untried).toEqual([]);
});

it.each(durations)(
  "%s is as the document says: the least and the most, and nothing beyond",
  async (_, place) => {
    const [{ minimum = Number.NaN, maximum = Number.NaN } = {}] = place.schema.anyOf ?? [];
    expect(maximum).toBeLessThanOrEqual(LONGEST);
    const inSeconds = [`${maximum / 1_000}s`, `${(maximum - 500) / 1_000}s`];
    const good = [minimum, `${minimum}ms`, maximum, ...inSeconds];
    // A wait for its most would take that long.
    for (const value of place.field.endsWith("wait") ? good.slice(0, 2) : good) {
      const { status, text } = await app.send(place.put(value));
      const isRead = status < 300 || [404, 409, 429].includes(status) || text.includes(`"unhealthy"`);
      expect([value, isRead]).toEqual([value, true]);
    }
    const bad = [minimum - 1, maximum + 1, `${maximum + 1}ms`, `${minimum + 1}.5ms`, "5.0005s"];
    for (const value of minimum > 0 ? [...bad, `${minimum - 1}ms`] : bad)
      expect([value, isRefused(place, await app.send(place.put(value)))]).toEqual([value, true]);
  },
);
