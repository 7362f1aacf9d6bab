import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { awkwardPayloads } from "../support/payloads.ts";
import { expectProblem, secrets, serve } from "./served.ts";

let served: Awaited<ReturnType<typeof serve>>;
beforeAll(async () => {
  served = await serve();
});
afterAll(() => served.stop());

/** JSON texts; each has to come back as the same text. */
const awkward: readonly [string, string][] = [
  ...awkwardPayloads
    .filter(([, payload]) => !(payload instanceof Uint8Array))
    .map(([name, payload]): [string, string] => [name, JSON.stringify(payload)]),
  ["byte order mark", '"\ufeffx"'],
  ["names of ours", '{"payload":1,"encoding":"base64","tasks":[],"id":"x"}'],
  ["numeric names", '{"1":"a","b":{"0":[]}}'],
  ["900 levels", "[".repeat(900) + "]".repeat(900)],
  ["1 MiB, the most", JSON.stringify("x".repeat(1_048_574))],
];

it.each(awkward)("%s comes back identical as payload, result and error", async (name, json) => {
  const tasks = `/v1/queues/${name.replaceAll(/[^A-Za-z0-9]/g, "-")}/tasks`;
  const post = async (path: string, body: string) => {
    const headers = { authorization: `Bearer ${secrets.all}`, "content-type": "application/json" };
    return (await served.app.request(`${tasks}${path}`, { method: "POST", headers, body })).text();
  };
  await post("", `{"payload":${json},"id":"x"}`);
  await post("", `{"tasks":[{"payload":${json},"id":"y"}]}`);
  const text = await post("/pull", '{"max":2}');
  // Not `toBe`, which would print a megabyte.
  expect(text.split(`"payload":${json},"attempt"`).length).toBe(3);
  const [x, y] = JSON.parse(text).tasks;

  const error = json.length <= 4_000 ? json : "1";
  const completed = `{"receipt":"${x.receipt}","outcome":"complete","result":${json}}`;
  const rejected = `{"receipt":"${y.receipt}","outcome":"reject","error":${error}}`;
  const settled = await post("/settle", `{"settlements":[${completed},${rejected}]}`);
  expect(JSON.parse(settled).results).toMatchObject([{ ok: true }, { ok: true }]);
  const shown = async (id: string) => (await served.ask("GET", `${tasks}/${id}`)).body;
  expect(JSON.stringify((await shown("x")).result) === json).toBe(true);
  expect(JSON.stringify((await shown("y")).error) === error).toBe(true);
});

describe("bytes", () => {
  const base64 = awkwardPayloads.flatMap(([name, payload]) =>
    payload instanceof Uint8Array ? [[name, Buffer.from(payload).toString("base64")] as const] : [],
  );

  it.each(base64)("come back identical: %s", async (name, payload) => {
    const path = `/v1/queues/bytes-${name.replaceAll(" ", "-")}/tasks`;
    const bytes = { payload, encoding: "base64" };
    await served.ask("POST", path, {
      json: {
        tasks: [
          { ...bytes, id: "x" },
          { payload: 1, id: "y" },
        ],
      },
    });
    const [x, y] = (await served.ask("POST", `${path}/pull`, { json: { max: 2 } })).body.tasks;
    expect([x.encoding, x.payload === payload, "encoding" in y]).toEqual(["base64", true, false]);
    const error = payload.length <= 4_000 ? payload : "AAEC";
    const settlements = [
      { receipt: x.receipt, outcome: "complete", result: payload, encoding: "base64" },
      { receipt: y.receipt, outcome: "reject", error, encoding: "base64" },
    ];
    await served.ask("POST", `${path}/settle`, { json: { settlements } });
    const [done, failed] = [await served.ask("GET", `${path}/x`), await served.ask("GET", `${path}/y`)];
    expect([done.body.encoding, done.body.result === payload]).toEqual(["base64", true]);
    expect(failed.body).toMatchObject({ error, errorEncoding: "base64" });
  });

  it("are distinguished from a text that looks like them", async () => {
    const path = "/v1/queues/looks-like/tasks";
    await served.ask("POST", path, { json: { payload: "AAEC" } });
    const [task] = (await served.ask("POST", `${path}/pull`)).body.tasks;
    expect([task.payload, "encoding" in task]).toEqual(["AAEC", false]);
  });

  it.each(["AAE", "AA E", "AAE*", "A===", "====", "AA==AA==", "AA-_", 5, null])(
    "that are not base64 are refused: %j",
    async (payload) => {
      const tasks = ["AAEC", payload].map((one) => ({ payload: one, encoding: "base64" }));
      const answer = await served.ask("POST", "/v1/queues/bytes/tasks", { json: { tasks } });
      const message = "must be base64 with its padding, because `encoding` is base64";
      expect(expectProblem(answer, "invalid_request").errors).toEqual([
        { path: "tasks[1].payload", message },
      ]);
    },
  );
});
