import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { redrive } from "../../src/http/request-schemas/task-operation.ts";
import { newTask, newTasks, settle as settlements } from "../../src/http/request-schemas/tasks.ts";
import { awkwardPayloads } from "../support/payloads.ts";
import { expectProblem, servedQueue } from "./served.ts";

const { ask, tasks, enqueue, pull, get, counts } = servedQueue();
const post = (raw: string, to = tasks()) => ask("POST", to, { raw });
const errorsOf = async (...request: Parameters<typeof post>) =>
  expectProblem(await post(...request), "invalid_request").errors;

describe("a list", () => {
  it("that is too long is reported by its name and bound, however long it is", async () => {
    const many = (one: string, size: number) => Array.from({ length: size }, () => one).join(",");
    const settled = many('{"receipt":"1.1.1.abcdefgh.a","outcome":"complete"}', 20_000);
    for (const [to, raw, detail] of [
      ["", `{"tasks":[${many('{"payload":1}', 100_000)}]}`, /^tasks must have at most 1000 tasks\.$/],
      // Each item is a fault of its own: a report of all would take gigabytes.
      ["", `{"tasks":[${many("0", 4_900_000)}]}`, /^tasks must have at most 1000 tasks\.$/],
      ["", `{"tasks":[${many("0", 1_000)}]}`, /^tasks\[0\] .* and 97 more\.$/],
      ["/settle", `{"settlements":[${settled}]}`, /^settlements must have at most 1000 settlements\.$/],
    ] as const)
      expect(expectProblem(await post(raw, tasks() + to), "invalid_request").detail).toMatch(detail);
  });

  it.each([
    ["tasks", newTasks],
    ["settlements", settlements],
    ["ids", redrive],
  ] as const)("of too many %s: none of too many is looked at", (name, schema) => {
    const looked: string[] = [];
    const items = new Proxy(Array.from({ length: 1_001 }), {
      get(target, key) {
        if (typeof key === "string" && /^\d+$/.test(key)) looked.push(key);
        return Reflect.get(target, key, target) as unknown;
      },
    });
    const { issues = [] } = v.safeParse(schema, { [name]: items }, { abortPipeEarly: true });
    const message = expect.stringMatching(/^must have at most 1000 /);
    expect([issues.map((issue) => issue.message), looked]).toEqual([[message], []]);
  });
});

it("no more faults of it are kept than are reported", () => {
  const unknown = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`f${at}`, 1]));
  const wrong = Array.from({ length: 1_000 }, () => ({ ...unknown, payload: 1 }));
  for (const [schema, body] of [
    [newTasks, { tasks: wrong }],
    [settlements, { settlements: wrong }],
    [redrive, { ids: wrong }],
    [newTask, unknown],
    [newTask, { payload: 1, headers: unknown }],
  ] as const) {
    const { issues = [] } = v.safeParse(schema, body);
    expect(issues.length).toBeGreaterThan(0);
    expect(issues.length).toBeLessThan(300);
  }
});

it("of names that occur twice the last counts, as with JSON.parse", async () => {
  expect((await post('{"id":"first","payload":1,"id":"second","payload":2}')).body.id).toBe("second");
  const listed = await ask("GET", `${tasks()}?state=pending&payloads=true`);
  expect(listed.body.tasks).toMatchObject([{ id: "second", payload: 2 }]);
});

const awkward = awkwardPayloads.map(([name, payload]): [string, string, boolean] =>
  payload instanceof Uint8Array
    ? [name, JSON.stringify(Buffer.from(payload).toString("base64")), true]
    : [name, JSON.stringify(payload), false],
);

it.each<[name: string, json: string, isBytes: boolean]>([
  ...awkward,
  ["byte order mark", '"\ufeffx"', false],
  ["names of ours", '{"payload":1,"encoding":"base64","tasks":[],"id":"x"}', false],
  ["numeric names", '{"1":"a","b":{"0":[]}}', false],
  ["a text that looks like bytes", '"AAEC"', false],
  ["900 levels", "[".repeat(900) + "]".repeat(900), false],
  ["1 MiB, the most", JSON.stringify("x".repeat(1_048_574)), false],
])("%s comes back identical as payload, result and error", async (_, json, isBytes) => {
  const encoding = isBytes ? "base64" : undefined;
  const bytes = isBytes ? ',"encoding":"base64"' : "";
  const values: unknown[] = [];
  const shown = (value: unknown, of: unknown) => values.push([JSON.stringify(value) === json, of]);
  await post(`{"tasks":[{"id":"x","payload":${json}${bytes}},{"id":"y","payload":${json}${bytes}}]}`);
  const [x, y] = (await pull({ max: 2 })).body.tasks;
  for (const task of [x, y]) shown(task.payload, task.encoding);
  const settled = (receipt: string, outcome: string) =>
    post(`{"settlements":[{"receipt":"${receipt}",${outcome}${bytes}}]}`, `${tasks()}/settle`);
  await settled(x.receipt, `"outcome":"complete","result":${json}`);
  const completed = (await get("x")).body;
  shown(completed.result, completed.encoding);
  // Errors are limited.
  if (json.length <= 4_000) {
    await settled(y.receipt, `"outcome":"reject","error":${json}`);
    const rejected = (await get("y")).body;
    shown(rejected.error, rejected.errorEncoding);
  }
  expect(values).toEqual(values.map(() => [true, encoding]));
});

it.each(["AAE", "AA E", "AAE*", "A===", "====", "AA==AA==", "AA-_", 5, null])(
  "bytes that are not base64 are refused: %j",
  async (payload) => {
    const message = "must be base64 with its padding, because `encoding` is base64";
    const answer = await enqueue({
      tasks: ["AAEC", payload].map((one) => ({ payload: one, encoding: "base64" })),
    });
    expect(expectProblem(answer, "invalid_request").errors).toEqual([{ path: "tasks[1].payload", message }]);
  },
);

// In all other places: fields.test.ts.
describe("a number without bounds", () => {
  const message = "must be a finite number, at most about 1.8e308 either way";
  const long = "k".repeat(1_000);

  it.each([
    ["1e400", ""],
    ["-1e400", ""],
    ["1.8e308", ""],
    [`1${"0".repeat(309)}`, ""],
    [`-${"9".repeat(400)}.5`, ""],
    ["0.1E+0999", ""],
    ['{"a":[null,"null",{},1e400]}', ".a[3]"],
    ['[[],[[[{"b":{"":-1E999}}]]]]', "[1][0][0][0].b."],
    ['{"__proto__":{"toJSON":1e400}}', ".__proto__.toJSON"],
    // Cut to a helpful length.
    [`{"${long}":1e400}`, `.${long.slice(0, 491)}…`],
  ])("is refused as a payload, and nothing is enqueued: %s", async (text, at) => {
    expect(await errorsOf(`{"payload":${text}}`)).toEqual([{ path: `payload${at}`, message }]);
    const second = await errorsOf(`{"tasks":[{"payload":1},{"payload":${text.replace(long, "k")}}]}`);
    expect(second).toEqual([{ path: `tasks[1].payload${at.replace(/k+…/, "k")}`, message }]);
    expect((await counts()).pending).toBe(0);
  });
});

it.each([
  ["1.7976931348623157e308", "1.7976931348623157e+308"],
  ["-1e308", "-1e+308"],
  ["1e-400", "0"],
  ["-0", "0"],
  ["9007199254740993", "9007199254740992"],
  ['{"1e400":["1e400",null,1e5]}', '{"1e400":["1e400",null,100000]}'],
])("a finite number is kept as JavaScript reads it: %s", async (text, kept) => {
  await post(`{"payload":${text}}`);
  expect(JSON.stringify((await pull()).body.tasks[0].payload)).toBe(kept);
});
